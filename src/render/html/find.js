
'use strict';
// A search of the whole conversation where a part of it is on the page: the server looks through the rest.
(() => {
  const main = document.querySelector('main'), page = globalThis.tractPage;
  if (!main || !page) return;
  const isPart = () => !!main.querySelector(':scope > .more > a');
  const get = (id) => document.getElementById(id);
  const here = new URLSearchParams(location.search);
  const ask = async (pairs, signal) => {
    const url = new URL('find', location.href);
    url.hash = '';
    if (here.get('at')) pairs.at = here.get('at');
    url.search = new URLSearchParams(pairs);
    const answer = await fetch(url, { credentials: 'omit', signal });
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    return answer.json();
  };
  // The page that begins with a message.
  const address = (place, hash) => {
    const url = new URL('./', location.href);
    url.searchParams.set('from', place);
    if (here.get('at')) url.searchParams.set('at', here.get('at'));
    url.hash = hash;
    return url.href;
  };

  let text = '', found = [], at = -1, isWhole = true, asked = null;
  const say = () => {
    const count = `${found.length}${isWhole ? '' : '+'}`;
    if (at >= 0) page.say(`${at + 1}/${count}`);
    else if (found.length) page.say(count);
    else page.say(!text ? '' : isWhole ? 'nothing' : 'searching…');
  };
  const isHere = (index) => {
    const target = found[index] && found[index][1] && get(found[index][1]);
    return target && main.contains(target) ? target : null;
  };
  // Shows a message that was found; one that is not on the page only where somebody asked for it.
  const go = (index, isWanted) => {
    const target = isHere(index);
    if (target) {
      at = index;
      page.reach(target);
    } else if (isWanted && Number(here.get('from')) !== found[index][0]) {
      location.assign(address(found[index][0], `q=${encodeURIComponent(text)}`));
    } else if (isWanted) {
      // It is on the page, in another message's box.
      at = index;
      page.reach(null);
    }
    say();
  };
  const first = () => {
    const from = Number(here.get('from')) || 1;
    const next = found.findIndex(([place]) => place >= from);
    return next < 0 ? 0 : next;
  };
  const look = async (value, isWanted) => {
    if (asked) asked.abort();
    const own = asked = new AbortController();
    text = value.trim() ? value : '';
    [found, at, isWhole] = [[], -1, !text];
    say();
    try {
      for (let from = 1; text && from;) {
        const told = await ask({ q: text, from }, own.signal);
        found.push(...told.found);
        from = told.next;
        isWhole = !from;
        const index = first();
        if (at < 0 && found[index] && (isWhole || found[index][0] >= (Number(here.get('from')) || 1))) go(index, isWanted);
        say();
      }
    } catch {
      if (!own.signal.aborted) page.say('the search failed');
    }
  };
  const show = (step) => {
    if (page.search.value.trim() && page.search.value !== text) return look(page.search.value, true);
    if (!found.length) return undefined;
    const next = at < 0 ? first() : (at + step + found.length) % found.length;
    return go(next, true);
  };
  // A link to a message that stands on another part.
  const follow = async (name) => {
    const [commit, number] = [/^c([0-9a-f]{12})(-[0-9]+)?$/.exec(name), /^m([0-9]+)$/.exec(name)];
    if (!commit && !number) return;
    try {
      const told = await ask(commit ? { m: commit[1] } : { n: number[1] });
      const [place, own] = told.found[0];
      location.replace(address(place, commit ? name : own));
    } catch { /* it is in no part: the page stays */ }
  };
  globalThis.tractFind = { isPart, look, show, follow };
  if (isPart()) page.follow();
})();
