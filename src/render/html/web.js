
'use strict';
(() => {
  // The list: it is searched and narrowed as one types, by asking the server for the same page as the form does.
  const form = document.querySelector('form.filters');
  const words = document.getElementById('q');
  const main = () => document.querySelector('main.list');
  if (!main()) return;
  if (form) form.classList.add('is-live');

  const address = () => {
    if (!form) return location.href;
    const pairs = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value) pairs.append(name, value);
    const query = pairs.toString();
    return query ? `${location.pathname}?${query}` : location.pathname;
  };
  let asked = null, again = 0, pause = 400;
  const soonAgain = () => {
    // A search that goes on is asked for at once: each answer has looked for a while.
    if (main().dataset.pending === 'search') { again = setTimeout(() => show(address()), 40); return; }
    again = setTimeout(() => show(address()), pause);
    pause = Math.min(pause * 1.5, 5000);
  };
  const show = async (wanted) => {
    // Whatever was to be asked for again is asked for now; it must not end this.
    clearTimeout(again);
    if (asked) asked.abort();
    const own = asked = new AbortController();
    main().setAttribute('aria-busy', 'true');
    try {
      const answer = await fetch(wanted, { signal: own.signal, cache: 'no-store' });
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const next = page.querySelector('main');
      if (own.signal.aborted) return;
      if (!next) throw new Error('no list');
      const focused = document.activeElement && document.activeElement.getAttribute('href');
      main().replaceWith(document.adoptNode(next));
      next.classList.add('list');
      if (focused && document.activeElement === document.body) {
        const again = [...next.querySelectorAll('a')].find((link) => link.getAttribute('href') === focused);
        if (again) again.focus({ preventScroll: true });
      }
      history.replaceState(null, '', wanted);
      look();
    } catch (error) {
      if (own.signal.aborted) return;
      main().removeAttribute('aria-busy');
      soonAgain();
    }
  };
  let soon = 0;
  const later = (time) => { clearTimeout(soon); soon = setTimeout(() => show(address()), time); };
  if (form) {
    words.addEventListener('input', () => later(120));
    form.addEventListener('change', (event) => { if (event.target !== words) later(0); });
    form.addEventListener('submit', (event) => { event.preventDefault(); later(0); });
  }

  // What is still being worked out is asked for again, a little less often each time.
  const look = () => {
    clearTimeout(again);
    if (main().hasAttribute('data-pending')) soonAgain();
    else pause = 400;
  };
  look();

  // Keys: / to search, j and k or arrows from one to the next.
  const links = () => [...main().querySelectorAll('a.open')];
  const step = (by) => {
    const all = links(), at = all.indexOf(document.activeElement);
    const next = at < 0 ? (by > 0 ? 0 : -1) : at + by;
    if (next < 0) { if (words) words.focus(); return; }
    if (all[next]) all[next].focus();
  };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const types = event.target.matches && event.target.matches('input, select, textarea');
    if (event.key === '/' && words && !types) { event.preventDefault(); words.focus(); words.select(); }
    else if (event.key === 'Escape' && words && event.target === words) { words.value = ''; later(0); }
    else if (event.key === 'ArrowDown' && (event.target === words || !types)) { event.preventDefault(); step(1); }
    else if (event.key === 'ArrowUp' && !types) { event.preventDefault(); step(-1); }
    else if (event.key === 'j' && !types) step(1);
    else if (event.key === 'k' && !types) step(-1);
  });
})();
