
'use strict';
(() => {
  const get = (id) => document.getElementById(id);
  const root = document.documentElement;
  const main = document.querySelector('main');
  const [search, found, theme] = [get('search'), get('found'), get('theme')];

  // Light and dark: as the system has it, until someone says else.
  const keep = (value) => { try { localStorage.setItem('tract-theme', value); } catch { /* not kept */ } };
  try { root.dataset.theme = localStorage.getItem('tract-theme') || ''; } catch { /* none is kept */ }
  if (theme) theme.addEventListener('click', () => {
    const dark = getComputedStyle(root).colorScheme === 'dark';
    root.dataset.theme = dark ? 'light' : 'dark';
    keep(root.dataset.theme);
  });

  // The rest is for a conversation.
  const tools = document.querySelector('.tools');
  if (!tools) return;
  tools.hidden = false;

  // All folds around something.
  const reveal = (node) => {
    for (let at = node; at && at !== main; at = at.parentElement) {
      if (at.localName === 'details') at.open = true;
    }
  };

  // Which messages are seen. A browser keeps what was chosen when a page is loaded again.
  const kind = get('kind');
  // What is hidden is of one kind or another as well, so it is open for as long.
  const choose = () => {
    root.dataset.kind = kind.value;
    for (const fold of main.querySelectorAll('.hidden')) {
      if (kind.value && !fold.open) [fold.open, fold.dataset.shut] = [true, ''];
      if (!kind.value && 'shut' in fold.dataset) { fold.open = false; delete fold.dataset.shut; }
    }
    const none = kind.value && ![...main.querySelectorAll('.b')].some((node) => !node.checkVisibility || node.checkVisibility());
    if (none || found.textContent === 'none of these') found.textContent = none ? 'none of these' : '';
  };
  kind.addEventListener('change', choose);
  addEventListener('pageshow', choose);
  document.addEventListener('tract-change', () => { if (kind.value) choose(); });

  let all = false;
  get('fold').addEventListener('click', () => {
    all = !all;
    for (const fold of main.querySelectorAll('details')) fold.open = all;
  });

  // What is folded is printed, and folded again behind that.
  let opened = [];
  addEventListener('beforeprint', () => {
    opened = [...main.querySelectorAll('details:not([open])')];
    for (const fold of opened) fold.open = true;
  });
  addEventListener('afterprint', () => {
    for (const fold of opened) fold.open = false;
    opened = [];
  });

  // Search: the whole text once, and where each piece of it begins.
  let nodes = null, starts = [], whole = '';
  const read = () => {
    nodes = [];
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    const pieces = [];
    let length = 0;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.data, lower = text.toLowerCase();
      nodes.push(node);
      starts.push(length);
      pieces.push(lower.length === text.length ? lower : text);
      length += text.length;
    }
    whole = pieces.join('');
  };
  const nodeAt = (offset) => {
    let low = 0, high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle] <= offset) low = middle; else high = middle - 1;
    }
    return low;
  };
  const rangeAt = (from, to) => {
    const range = new Range(), first = nodeAt(from), last = nodeAt(to - 1);
    range.setStart(nodes[first], from - starts[first]);
    range.setEnd(nodes[last], to - starts[last]);
    return range;
  };
  const most = 5000;
  let hits = [], at = -1;
  const paint = (name, ranges) => {
    if (!globalThis.Highlight || !CSS.highlights) return;
    CSS.highlights.set(name, new Highlight(...ranges));
  };
  // Where a part of the conversation is here, the server looks through the rest.
  const rest = () => globalThis.tractFind && tractFind.isPart() ? tractFind : null;
  const show = (step) => {
    if (rest()) { rest().show(step); return; }
    if (!hits.length) return;
    at = (at + step + hits.length) % hits.length;
    const range = hits[at], around = range.startContainer.parentElement;
    reveal(around);
    paint('here', [range]);
    around.scrollIntoView({ block: 'center' });
    found.textContent = `${at + 1}/${hits.length}${hits.length === most ? '+' : ''}`;
  };
  const mark = () => {
    const text = search.value.toLowerCase();
    hits = [];
    at = -1;
    for (const fold of main.querySelectorAll('details.has')) fold.classList.remove('has');
    if (text.trim()) {
      if (!nodes) read();
      for (let from = whole.indexOf(text); from >= 0 && hits.length < most; from = whole.indexOf(text, from + text.length)) {
        hits.push(rangeAt(from, from + text.length));
      }
      for (const hit of hits) {
        for (let fold = hit.startContainer.parentElement.closest('details'); fold; fold = fold.parentElement.closest('details')) {
          if (fold.classList.contains('has')) break;
          fold.classList.add('has');
        }
      }
    }
    paint('found', hits);
    paint('here', []);
  };
  const look = (isWanted) => {
    mark();
    if (rest()) { rest().look(search.value, isWanted === true); return; }
    found.textContent = search.value.trim() && !hits.length ? 'nothing' : '';
    show(1);
  };
  let soon = 0;
  search.addEventListener('input', () => { clearTimeout(soon); soon = setTimeout(look, 150); });
  // What comes to the page later is searched as well.
  document.addEventListener('tract-change', () => {
    [nodes, starts] = [null, []];
    if (search.value.trim() && rest()) mark();
  });
  search.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') { event.preventDefault(); clearTimeout(soon); show(event.shiftKey ? -1 : 1); }
    if (event.key === 'Escape') { search.value = ''; look(); search.blur(); }
  });
  get('next').addEventListener('click', () => show(1));
  get('before').addEventListener('click', () => show(-1));
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && event.target !== search && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      search.focus();
      search.select();
    }
  });

  // A link to a message opens what it is folded in; #q=words searches.
  const follow = () => {
    let name = location.hash.slice(1);
    try { name = decodeURIComponent(name); } catch { /* as it stands */ }
    if (name.startsWith('q=')) {
      search.value = name.slice(2);
      look(true);
      return;
    }
    const target = name && get(name);
    if (target && main.contains(target)) {
      // A number stands beside what it names.
      reveal(target.matches('.fold > .no') ? target.parentElement.querySelector('details') : target);
      target.scrollIntoView();
    } else if (name && !target && rest()) {
      rest().follow(name);
    }
  };
  addEventListener('hashchange', follow);
  follow();
  globalThis.tractPage = {
    search,
    follow,
    say: (words) => { found.textContent = words; },
    // The first hit in a message, or behind its beginning; without one, the message.
    reach: (target) => {
      mark();
      const after = (hit) => !target || target.contains(hit.startContainer)
        || target.compareDocumentPosition(hit.startContainer) & Node.DOCUMENT_POSITION_FOLLOWING;
      const hit = hits.find(after), around = hit ? hit.startContainer.parentElement : target;
      if (!around) return;
      reveal(around);
      if (hit) paint('here', [hit]);
      around.scrollIntoView({ block: 'center' });
    },
  };

  // Where one is, in the list of prompts; it grows with the page.
  const links = new Map();
  let here = null;
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      if (here) here.classList.remove('here');
      here = links.get(entry.target.id);
      if (here) here.classList.add('here');
    }
  }, { rootMargin: '-10% 0px -75% 0px' });
  const list = () => {
    for (const link of document.querySelectorAll('nav a')) {
      const name = link.hash.slice(1), target = links.get(name) !== link && get(name);
      if (!target) continue;
      links.set(name, link);
      seen.observe(target);
    }
  };
  document.addEventListener('tract-change', list);
  list();
})();
