
'use strict';
// The parts of a long conversation: the next ones come as one scrolls, and what is far away is given up.
(() => {
  const main = document.querySelector('main');
  if (!main || !document.querySelector('.tools')) return;
  const near = 1500, kept = 8;
  const links = { prev: null, next: null };
  let shells = [];

  const link = (from, rel) => from.querySelector(`:scope > .more > a[rel=${rel}]`);
  // Takes all that stands in a page's main part as one part.
  const wrap = (from, address) => {
    const part = document.createElement('section');
    part.className = 'part';
    part.dataset.address = address;
    for (const rel of ['prev', 'next']) {
      const more = link(from, rel);
      if (more) more.parentElement.remove();
    }
    part.append(...from.childNodes);
    return part;
  };
  const moreOf = (doc, rel) => {
    const more = link(doc, rel);
    return more && more.parentElement.cloneNode(true);
  };
  const read = async (address) => {
    const answer = await fetch(address, { credentials: 'omit' });
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    const doc = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const from = doc.querySelector('main');
    const more = { prev: moreOf(from, 'prev'), next: moreOf(from, 'next') };
    const prompts = [...doc.querySelectorAll('nav#prompts li')];
    return { part: document.importNode(wrap(from, address), true), more, prompts };
  };
  const put = (rel, more) => {
    const old = links[rel];
    links[rel] = more ? document.importNode(more, true) : null;
    if (old) old.remove();
    if (!links[rel]) return;
    if (rel === 'prev') main.prepend(links[rel]); else main.append(links[rel]);
    seen.observe(links[rel]);
  };
  const list = document.querySelector('nav#prompts ol');
  // The list of prompts follows, and is no longer than somebody reads.
  const most = 400;
  const isWhole = !!list && !!list.querySelector('a[href^="./?"]');
  const nameOf = (item) => item.querySelector('a').hash;
  const tell = (rel, prompts) => {
    if (!list) return;
    // A prompt that is listed already is on this page now.
    const known = new Map([...list.children].map((item) => [nameOf(item), item]));
    const items = [];
    for (const prompt of prompts) {
      const item = document.importNode(prompt, true), old = known.get(nameOf(item));
      const isHere = item.querySelector('a').getAttribute('href').startsWith('#');
      if (!old) items.push(item); else if (isHere) old.replaceWith(item);
    }
    if (rel === 'prev') list.prepend(...items); else list.append(...items);
    // Where all are listed, all stay.
    while (!isWhole && list.children.length > most) (rel === 'prev' ? list.lastElementChild : list.firstElementChild).remove();
  };
  const busy = new Set();
  const grow = async (rel) => {
    if (busy.has(rel) || !links[rel]) return;
    busy.add(rel);
    try {
      const address = links[rel].querySelector('a').href;
      const { part, more, prompts } = await read(address);
      const edge = 80, anchor = [...main.querySelectorAll('.b')].find((node) => node.getBoundingClientRect().bottom > edge);
      const before = anchor ? anchor.getBoundingClientRect().top : 0;
      if (rel === 'prev') {
        shells[0].before(part);
        shells.unshift(part);
      } else {
        shells[shells.length - 1].after(part);
        shells.push(part);
      }
      tell(rel, prompts);
      document.dispatchEvent(new CustomEvent('tract-change'));
      watch.observe(part);
      put(rel, more[rel]);
      // What is read stays in its place, also where heights are known only when they are drawn.
      const hold = () => { if (anchor && rel === 'prev') scrollBy(0, anchor.getBoundingClientRect().top - before); };
      hold();
      requestAnimationFrame(() => { hold(); requestAnimationFrame(hold); });
      trim();
    } catch { /* the link stays */ }
    busy.delete(rel);
    if (links[rel] && links[rel].getBoundingClientRect().top < innerHeight + near && links[rel].getBoundingClientRect().bottom > -near) grow(rel);
  };
  // Gives up what is far: its height stays, and its text comes again when it is near.
  const trim = () => {
    const held = shells.filter((part) => !part.dataset.away);
    if (held.length <= kept) return;
    const far = (part) => {
      const box = part.getBoundingClientRect();
      return box.bottom < 0 ? -box.bottom : Math.max(0, box.top - innerHeight);
    };
    held.sort((one, other) => far(other) - far(one));
    for (const part of held.slice(0, held.length - kept)) {
      if (far(part) < 2 * near || part.contains(document.activeElement)) continue;
      part.style.height = `${part.getBoundingClientRect().height}px`;
      part.dataset.away = '1';
      part.replaceChildren();
    }
  };
  const refill = async (part) => {
    if (!part.dataset.away || busy.has(part)) return;
    busy.add(part);
    try {
      const found = await read(part.dataset.address);
      part.replaceChildren(...found.part.childNodes);
      delete part.dataset.away;
      part.style.height = '';
      trim();
    } catch { /* it stays away */ }
    busy.delete(part);
  };
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) grow(entry.target === links.prev ? 'prev' : 'next');
    }
  }, { rootMargin: `${near}px 0px` });
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) refill(entry.target);
  }, { rootMargin: `${near}px 0px` });

  const more = { prev: moreOf(main, 'prev'), next: moreOf(main, 'next') };
  if (more.prev || more.next) {
    const first = wrap(main, location.href.split('#')[0]);
    main.append(first);
    shells = [first];
    watch.observe(first);
    put('prev', more.prev);
    put('next', more.next);
    // To the first or the last part at once.
    globalThis.tractParts = {
      end: (rel) => {
        const url = new URL(location.href);
        url.hash = '';
        for (const name of ['from', 'to', 'end']) url.searchParams.delete(name);
        if (rel === 'next') url.searchParams.set('end', '1'); else url.searchParams.set('from', '1');
        location.href = url.href;
      },
    };
  }

  // The context over time, where it is asked for apart.
  const curve = document.querySelector('.curve > a');
  const bind = (form) => {
    const range = form.querySelector('input[type=range]'), shown = form.querySelector('output');
    const say = () => {
      const tokens = (range.dataset.tokens || '').split(' ').map(Number);
      const at = Math.floor((range.value - 1) * tokens.length / range.max);
      const size = tokens[Math.min(at, tokens.length - 1)];
      const words = size >= 1000 ? `${(size / 1000).toFixed(1)}k` : `${size}`;
      shown.textContent = `step ${range.value} of ${range.max}, ${words} tokens`;
      range.setAttribute('aria-valuetext', shown.textContent);
    };
    // By keys it goes step by step: it is sent when nobody has pressed one for a while, or by Enter.
    let byKey = false, due;
    range.addEventListener('pointerdown', () => { byKey = false; });
    range.addEventListener('keydown', () => { byKey = true; });
    range.addEventListener('input', () => { clearTimeout(due); say(); });
    range.addEventListener('change', () => {
      clearTimeout(due);
      due = setTimeout(() => form.requestSubmit(), byKey ? 800 : 0);
    });
    say();
  };
  const form = document.querySelector('form.moment');
  if (form) bind(form);
  if (curve) {
    (globalThis.requestIdleCallback || setTimeout)(async () => {
      try {
        const answer = await fetch(curve.href, { credentials: 'omit' });
        if (!answer.ok) return;
        const doc = new DOMParser().parseFromString(await answer.text(), 'text/html');
        const found = [...doc.querySelectorAll('header > .chart, header > form.moment')];
        if (!found.length) return;
        const nodes = found.map((node) => document.importNode(node, true));
        curve.parentElement.replaceWith(...nodes);
        for (const node of nodes) if (node.matches('form')) bind(node);
      } catch { /* the link stays */ }
    });
  }
})();
