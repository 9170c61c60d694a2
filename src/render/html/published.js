
'use strict';
(() => {
  // A list among files: the titles are narrowed, and what was said is looked for in scripts that are loaded by a tag,
  // since a file can ask for nothing.
  const main = document.querySelector('main.list');
  const words = document.getElementById('q');
  if (!main || !words || !main.dataset.search) return;
  const scripts = main.dataset.search.split(' ');
  words.form.addEventListener('submit', (event) => event.preventDefault());

  let pages = [], said = [], loading = null;
  const load = () => loading ||= Promise.all(scripts.map((name) => new Promise((done) => {
    const script = document.createElement('script');
    script.src = name;
    script.onload = script.onerror = done;
    document.head.append(script);
  }))).then(() => {
    for (const piece of self.tract || []) {
      if (piece.pages) pages = piece.pages;
      if (piece.said) for (const [page, anchor, role, text] of piece.said) said.push({ page, anchor, role, text, lower: text.toLowerCase() });
    }
  });

  const element = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const parts = (text) => {
    const found = text.toLowerCase().match(/"[^"]+"|[^\s"]+/g) || [];
    return found.map((part) => part.replace(/"/g, '').trim()).filter(Boolean);
  };
  // A line around the first word that was found, with the words marked.
  const line = (text, wanted) => {
    const flat = text.replace(/\s+/g, ' '), lower = flat.toLowerCase();
    const places = wanted.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
    const first = Math.max(0, Math.min(...places, flat.length) - 60);
    const end = Math.min(flat.length, first + 240);
    const shown = element('p', 'line', first > 0 ? '…' : '');
    let at = first;
    while (at < end) {
      let next = end, length = 0;
      for (const word of wanted) {
        const place = lower.indexOf(word, at);
        if (place >= 0 && (place < next || (place === next && word.length > length))) [next, length] = [place, word.length];
      }
      shown.append(flat.slice(at, Math.min(next, end)));
      if (length) shown.append(element('mark', '', flat.slice(next, next + length)));
      at = length ? next + length : end;
    }
    return shown;
  };
  const most = 50;
  const search = (wanted) => {
    const hits = [];
    for (const one of said) {
      let score = one.role === 'user' ? 1 : 0;
      for (const word of wanted) {
        let at = one.lower.indexOf(word), times = 0;
        if (at < 0) { score = -1; break; }
        while (at >= 0 && times < 8) { times += 1; at = one.lower.indexOf(word, at + word.length); }
        score += times / (1 + one.lower.length / 2000);
      }
      if (score >= 0) hits.push([score, one]);
    }
    return hits.sort((a, b) => b[0] - a[0]);
  };
  const section = element('section', 'hits');
  const show = async () => {
    const wanted = parts(words.value);
    for (const row of main.querySelectorAll('.day li')) row.hidden = false;
    for (const day of main.querySelectorAll('.day')) {
      for (const row of [...day.querySelectorAll('li')].reverse()) {
        const own = row.firstElementChild.textContent.toLowerCase();
        row.hidden = !wanted.every((word) => own.includes(word)) && !row.querySelector('li:not([hidden])');
      }
      day.hidden = !day.querySelector('li:not([hidden])');
    }
    section.remove();
    if (!wanted.length) return;
    await load();
    if (parts(words.value).join(' ') !== wanted.join(' ')) return;
    const hits = search(wanted), list = element('ol');
    section.replaceChildren(element('h2', '', 'Messages'));
    if (!hits.length) section.append(element('p', 'earlier', 'No message matches.'));
    for (const [, one] of hits.slice(0, most)) {
      const [address, title] = pages[one.page] || ['', ''];
      const item = element('li'), row = element('div', 'row'), link = element('a', 'open', title);
      link.href = `${address}#${one.anchor}`;
      const facts = element('span', 'facts');
      facts.append(element('span', '', one.role));
      row.append(link, facts);
      item.append(row, line(one.text, wanted));
      list.append(item);
    }
    section.append(list);
    if (hits.length > most) section.append(element('p', 'away', `and ${hits.length - most} more`));
    main.append(section);
  };
  let soon = 0;
  const follow = () => {
    const asked = location.hash.startsWith('#q=') ? location.hash.slice(3) : '';
    try { words.value = decodeURIComponent(asked); } catch { words.value = asked; }
    show();
  };
  words.addEventListener('input', () => {
    clearTimeout(soon);
    soon = setTimeout(() => {
      history.replaceState(null, '', words.value ? `#q=${encodeURIComponent(words.value)}` : location.pathname);
      show();
    }, 150);
  });
  addEventListener('hashchange', follow);
  if (location.hash.startsWith('#q=')) follow();
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && event.target !== words && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      words.focus();
    }
  });
})();
