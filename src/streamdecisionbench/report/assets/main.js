// Puts the page together: the interval, the theme, the sections in reading order, printing.

const slider = document.getElementById('interval-slider');
const number = document.getElementById('interval-number');
const SLIDER = Number(slider.max);

const paceControls = () => {
  const scale = sdb.paceScale(0, SLIDER);
  number.min = String(sdb.low);
  number.max = String(sdb.high);
  slider.addEventListener('input', () => sdb.setInterval(sdb.snap(scale.back(Number(slider.value)))));
  number.addEventListener('input', () => {
    const value = Number(number.value);
    if (number.value !== '' && value >= sdb.low && value <= sdb.high) sdb.setInterval(value);
  });
  number.addEventListener('change', () => {
    const value = Number(number.value);
    if (number.value !== '' && Number.isFinite(value)) sdb.setInterval(value);
    number.value = sdb.short(sdb.state.interval);
  });
  document.getElementById('pace').addEventListener('submit', (event) => event.preventDefault());
  // Keys go from one interval with an answer to the next.
  const stops = sdb.data.answers.map((answer) => answer.d);
  slider.addEventListener('keydown', (event) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (!by || !stops.length || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const here = sdb.state.interval;
    const next = by > 0 ? stops.findIndex((d) => d > here * (1 + 1e-9)) : stops.findLastIndex((d) => d < here * (1 - 1e-9));
    if (next < 0) return;
    sdb.setInterval(stops[Math.min(Math.max(next + by - Math.sign(by), 0), stops.length - 1)]);
  });
  document.getElementById('pace-ticks').append(...sdb.paceTicks().map((d) => {
    const share = scale.at(d) / SLIDER;
    return h('span', { style: { left: `calc(8px + (100% - 16px) * ${share.toFixed(4)})` } }, sdb.short(d));
  }));
  sdb.follow(['interval'], () => {
    const d = sdb.state.interval;
    // While the slider is dragged its own position stands: the snapped interval may round past it.
    if (sdb.snap(scale.back(Number(slider.value))) !== d) slider.value = String(Math.round(scale.at(d)));
    slider.setAttribute('aria-valuetext', `${sdb.short(d)} seconds per step`);
    if (document.activeElement !== number || Number(number.value) !== d) number.value = sdb.short(d);
  });
};

/* On paper everything that can be unfolded is. */
const printing = () => {
  let closed = [];
  const open = () => {
    closed = [...document.querySelectorAll('details:not([open], .screen-only)')];
    closed.forEach((details) => { details.open = true; details.refresh?.(); });
  };
  window.addEventListener('beforeprint', open);
  window.addEventListener('afterprint', () => { closed.forEach((details) => { details.open = false; }); closed = []; });
  document.querySelector('.top-tools').append(h('button', { type: 'button', class: 'plain', id: 'print', onclick: () => window.print() }, 'Print'));
};

/* The interval is part of the address, behind the section: #answer&interval=2.4 */
const address = () => {
  const read = () => {
    const parts = decodeURIComponent(location.hash.slice(1)).split('&');
    const asked = Number(parts.find((part) => part.startsWith('interval='))?.slice(9));
    if (asked > 0) sdb.setInterval(asked);
    const place = parts[0].includes('=') ? null : document.getElementById(parts[0]);
    if (place) place.scrollIntoView();
    return parts[0].includes('=') ? '' : parts[0];
  };
  let section = read();
  let timer = 0;
  const write = () => {
    const parts = [section, `interval=${sdb.short(sdb.state.interval)}`].filter(Boolean);
    history.replaceState(null, '', `#${parts.join('&')}`);
  };
  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (!link) return;
    event.preventDefault();
    section = link.getAttribute('href').slice(1);
    const target = document.getElementById(section);
    target.setAttribute('tabindex', '-1');
    target.focus({ preventScroll: true });
    target.scrollIntoView();
    write();
  });
  window.addEventListener('hashchange', () => { section = read(); });
  // Browsers refuse too many changes of the address in a row.
  const start = sdb.state.interval;
  let touched = false;
  sdb.follow(['interval'], () => {
    touched ||= sdb.state.interval !== start;
    if (!touched) return;
    clearTimeout(timer);
    timer = setTimeout(write, 250);
  });
};

/* In a world nothing can be re-paced: a sentence stands where the slider would. */
const ownPace = () => document.getElementById('pace').replaceChildren(h('span', { class: 'pace-alone' },
  `Lived through in a world at ${sdb.short(sdb.state.interval)} s per step. At another pace it would have been another session, so the interval cannot be moved.`));

document.title = `${sdb.data.suite.name}: StreamDecisionBench report`;
if (sdb.data.alone) ownPace(); else paceControls();
printing();
sdb.answer();
sdb.leaderboard();
if (!sdb.data.alone) sdb.curves();
sdb.outcomes();
sdb.lanes();
sdb.wrongCosts();
sdb.latency();
if (!sdb.data.alone) sdb.separability();
sdb.pairsSection();
sdb.differences();
sdb.reliability();
sdb.cost();
sdb.made();
address();
document.documentElement.dataset.ready = 'yes';
