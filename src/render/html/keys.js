
// Keys, as `tract view -i` has them.
(() => {
  const main = document.querySelector('main');
  if (!main || !document.querySelector('.tools')) return;
  const root = document.documentElement;
  const get = (id) => document.getElementById(id);
  const isSeen = (node) => node.checkVisibility ? node.checkVisibility() : node.offsetParent !== null;
  const top = () => parseFloat(getComputedStyle(root).scrollPaddingTop) || 80;
  let current = null;

  const choose = (node) => {
    if (!node) return;
    if (current) current.classList.remove('chosen');
    current = node;
    node.classList.add('chosen');
    const target = node.localName === 'details' ? node.querySelector('summary') : node;
    if (target === node && !node.hasAttribute('tabindex')) node.tabIndex = -1;
    target.focus({ preventScroll: true });
    node.scrollIntoView({ block: 'start' });
  };
  // The next one that is seen, from the chosen one on, or from what stands at the top.
  const step = (selector, way) => {
    const nodes = [...main.querySelectorAll(selector)].filter(isSeen);
    if (!nodes.length) return;
    const after = (node, other) => node.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
    const holds = current && current.isConnected && isSeen(current);
    const edge = top() + 2;
    const next = way > 0
      ? nodes.find((node) => holds ? after(current, node) : node.getBoundingClientRect().top > edge)
      : nodes.findLast((node) => holds ? after(node, current) : node.getBoundingClientRect().top < edge - 4);
    if (next) choose(next);
    else scrollTo({ top: way > 0 ? root.scrollHeight : 0 });
  };
  const toggle = () => {
    if (!current) return;
    const fold = current.localName === 'details' ? current : current.querySelector('details');
    if (fold) fold.open = !fold.open;
  };
  const calls = ['short', 'full', 'off'];
  const cycle = () => {
    const next = calls[(calls.indexOf(root.dataset.calls || 'short') + 1) % calls.length];
    root.dataset.calls = next;
    for (const fold of main.querySelectorAll('details.tool')) fold.open = next === 'full';
  };
  const copy = () => {
    if (!current) return;
    const said = current.cloneNode(true);
    for (const no of said.querySelectorAll('.no')) no.remove();
    try { navigator.clipboard.writeText(said.textContent.trim()); } catch { /* not allowed */ }
  };

  const keys = [
    ['j k', 'down, up'], ['space b', 'a page down, up'], ['g G', 'the first, the last message'],
    ['J K', 'the next message, the one before'], ['] [', 'the next turn of the user, the one before'],
    ['} {', 'the next marker of a compaction, the one before'],
    ['enter', 'opens and closes the message'], ['/', 'searches; n N the next hit, the one before'],
    ['t T', 'calls short, full, off; thoughts off and on'], ['y', 'copies the message'],
    ['q', 'leaves: all sessions'], ['?', 'these keys'],
  ];
  let sheet = null;
  const help = () => {
    if (!sheet) {
      sheet = document.createElement('dialog');
      sheet.className = 'keys';
      sheet.setAttribute('aria-label', 'Keys');
      const list = document.createElement('dl');
      for (const [key, what] of keys) {
        const [term, text] = [document.createElement('dt'), document.createElement('dd')];
        [term.textContent, text.textContent] = [key, what];
        list.append(term, text);
      }
      const close = document.createElement('button');
      close.textContent = 'Close';
      close.addEventListener('click', () => sheet.close());
      sheet.append(list, close);
      document.body.append(sheet);
    }
    if (sheet.open) sheet.close(); else sheet.showModal();
  };
  const press = (id) => { const button = get(id); if (button) button.click(); };
  const leave = () => { const first = document.querySelector('.site a'); if (first) first.click(); };
  const end = (rel, to) => {
    const link = main.querySelector(`:scope a[rel=${rel}]`);
    if (link && globalThis.tractParts) tractParts.end(rel); else scrollTo({ top: to });
    if (current) current.classList.remove('chosen');
    current = null;
  };
  const actions = {
    j: () => scrollBy({ top: 60 }), k: () => scrollBy({ top: -60 }), b: () => scrollBy({ top: 90 - innerHeight }),
    g: () => end('prev', 0), G: () => end('next', root.scrollHeight),
    J: () => step('.b', 1), K: () => step('.b', -1),
    ']': () => step('.user', 1), '[': () => step('.user', -1),
    '}': () => step('.mark', 1), '{': () => step('.mark', -1),
    n: () => press('next'), N: () => press('before'), t: cycle,
    T: () => { root.dataset.thinking = root.dataset.thinking === 'off' ? '' : 'off'; },
    y: copy, q: leave, '?': help,
  };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target;
    if (target.closest && target.closest('input, textarea, select, dialog')) return;
    if (event.key === 'Enter') {
      if (target.closest && target.closest('a, button, summary')) return;
      toggle();
      return;
    }
    const action = Object.hasOwn(actions, event.key) && actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  const button = get('keys');
  if (button) button.addEventListener('click', help);
})();
