
'use strict';
(() => {
  const main = document.querySelector('main');
  if (!main || !document.querySelector('.tools')) return;

  // What one sees of it: a word in the corner, which leads to the end.
  const state = document.createElement('button');
  state.className = 'live-state';
  state.hidden = true;
  state.setAttribute('role', 'status');
  document.body.append(state);
  let fresh = 0;
  const say = (words) => { state.textContent = words; state.hidden = !words; };
  const root = document.scrollingElement;
  const isAtEnd = () => root.scrollHeight - root.scrollTop - innerHeight < 120;
  state.addEventListener('click', () => { root.scrollTop = root.scrollHeight; });
  addEventListener('scroll', () => { if (fresh && isAtEnd()) { fresh = 0; say(''); } }, { passive: true });

  // What was opened stays open.
  const opened = (nodes) => {
    const kept = new Map();
    for (const node of nodes) {
      const all = node.matches('details') ? [node, ...node.querySelectorAll('details')] : node.querySelectorAll('details');
      for (const fold of all) if (fold.id) kept.set(fold.id, fold.open);
    }
    return kept;
  };
  const reopen = (nodes, kept) => {
    for (const node of nodes) {
      const all = node.matches('details') ? [node, ...node.querySelectorAll('details')] : node.querySelectorAll('details');
      for (const fold of all) if (kept.has(fold.id)) fold.open = kept.get(fold.id);
    }
  };
  const parsed = (html) => {
    const template = document.createElement('template');
    template.innerHTML = html;
    return template.content;
  };
  // Children of an element in place of others; false where the page is not what it was taken for.
  const splice = (box, { path, of, at, drop, html }) => {
    let node = box;
    for (const step of path) node = node && node.children[step];
    if (!node || node.children.length !== of) return false;
    const gone = [...node.children].slice(at, at + drop);
    const kept = opened(gone), before = node.children[at + drop] || null;
    for (const one of gone) {
      const space = one.nextSibling;
      if (space && space.nodeType === Node.TEXT_NODE && !space.data.trim()) space.remove();
      one.remove();
    }
    const content = parsed(html), came = [...content.children];
    reopen(came, kept);
    node.insertBefore(content, before);
    return true;
  };

  // What stands around the conversation follows a little later, for it is read from the whole page as it is now.
  const AROUND_MS = 2000;
  let due = false;
  const around = async () => {
    await wait(AROUND_MS);
    due = false;
    const part = main.querySelector('.live')?.closest('.part');
    try {
      const answer = await fetch(part?.dataset.address || location.href.split('#')[0], { credentials: 'omit' });
      if (!answer.ok) return;
      const now = new DOMParser().parseFromString(await answer.text(), 'text/html');
      for (const what of ['header > ul.facts', 'header > .chart']) {
        const [old, fresh] = [document, now].map((of) => of.querySelector(what));
        if (old && fresh) old.replaceWith(document.importNode(fresh, true));
      }
      const [range, fresh] = [document, now].map((of) => of.querySelector('form.moment input[type=range]'));
      if (range && fresh) {
        const isAtEnd = range.value === range.max;
        range.max = fresh.max;
        range.dataset.tokens = fresh.dataset.tokens;
        if (isAtEnd) range.value = fresh.max;
        range.dispatchEvent(new Event('input'));
      }
      const list = document.querySelector('nav#prompts ol');
      const known = new Set([...document.querySelectorAll('nav#prompts a')].map((link) => link.hash));
      const came = [...now.querySelectorAll('nav#prompts li')].filter((item) => !known.has(item.querySelector('a')?.hash));
      if (list) list.append(...came.map((item) => document.importNode(item, true)));
      document.dispatchEvent(new CustomEvent('tract-change'));
    } catch { /* it stays as it was */ }
  };

  const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });
  let source = null, box = null, have = '';
  const change = (work) => {
    const follows = isAtEnd();
    const grown = work();
    document.dispatchEvent(new CustomEvent('tract-change'));
    if (!grown) return anew();
    if (!due) {
      due = true;
      around();
    }
    if (follows) root.scrollTop = root.scrollHeight;
    else { fresh += 1; say('↓ more'); }
  };
  // The page as it is now: read again, in its place.
  const anew = () => {
    if (source) source.close();
    const at = isAtEnd();
    try { sessionStorage.setItem('tract-at-end', at ? location.pathname : ''); } catch { /* it stays where it is */ }
    location.reload();
  };
  try {
    if (sessionStorage.getItem('tract-at-end') === location.pathname) {
      sessionStorage.removeItem('tract-at-end');
      root.scrollTop = root.scrollHeight;
    }
  } catch { /* none is kept */ }

  const listen = () => {
    box = main.querySelector('.live');
    const end = main.querySelector('.live-end');
    if (!box || !end) return;
    have = have || end.dataset.have;
    source = new EventSource(`live?from=${encodeURIComponent(box.dataset.from)}&have=${encodeURIComponent(have)}`);
    const on = (name, act) => source.addEventListener(name, (event) => act(JSON.parse(event.data)));
    on('here', () => say(''));
    on('whole', (now) => change(() => {
      const kept = opened([...box.children]), content = parsed(now.html);
      reopen([...content.children], kept);
      box.replaceChildren(content);
      have = now.have;
      return true;
    }));
    on('change', (now) => change(() => {
      have = now.have;
      return box.isConnected && now.splices.every((one) => splice(box, one));
    }));
    on('anew', (words) => { say(words); anew(); });
    on('lost', (words) => say(words));
    source.addEventListener('error', async () => {
      const failed = source;
      failed.close();
      say('not connected');
      await wait(1000);
      if (source === failed) listen();
    });
  };
  // Nobody looks at what is hidden, and a browser holds few connections.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) stop(); else look();
  });
  const stop = () => { source?.close(); source = null; };
  // The end of a long conversation comes when one has read as far, and is given up when one is far from it.
  const look = () => {
    if (source && !box.isConnected) { stop(); have = ''; }
    if (!source && !document.hidden && main.querySelector('.live')) listen();
  };
  look();
  setInterval(look, 500);
})();
