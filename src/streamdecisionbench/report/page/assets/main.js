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

const themeButton = () => {
  const button = document.getElementById('theme');
  const order = ['auto', 'light', 'dark'];
  let now = 0;
  button.addEventListener('click', () => {
    now = (now + 1) % order.length;
    const name = order[now];
    if (name === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    button.textContent = `Theme: ${name}`;
    button.setAttribute('aria-label', `Colour theme: ${name === 'auto' ? 'as the system' : name}`);
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
  document.getElementById('print').addEventListener('click', () => window.print());
};

document.title = `${sdb.data.suite.name}: StreamDecisionBench report`;
document.getElementById('foot').textContent = `StreamDecisionBench ${sdb.data.sdb}. This file is complete: it loads nothing and sends nothing.`;
paceControls();
themeButton();
printing();
sdb.answer();
sdb.leaderboard();
sdb.curves();
sdb.lanes();
sdb.latency();
sdb.separability();
sdb.pairsSection();
sdb.reliability();
sdb.cost();
sdb.made();
document.documentElement.dataset.ready = 'yes';
