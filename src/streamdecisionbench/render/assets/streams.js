// Streams: a score as a row, streams one below the other, and one of them large, with a cursor.
// A stream is {id, title, from, to, states, open, reference: [[from, to, text, step]],
// lanes: [{component, seconds by class, pieces: [[from, to, class, step, text]]}]}.

const column = (key) => sdb.data.classes.find((kind) => kind.key === key).column;

/* Correct time over judged time. */
sdb.inForceOf = (seconds) => {
  const judged = seconds.reduce((sum, s) => sum + s, 0) - seconds[column('unjudged')];
  return judged > 0 ? (seconds[column('current_correct')] + seconds[column('outdated_correct')]) / judged : null;
};

/* What a component or a group is worth: a name, a large number, where the time went, facts. */
sdb.scoreRow = (item, inForce, range, classes, facts) => {
  const { bar, update } = sdb.classBar();
  update(classes);
  return h('div', { class: 'score-row', 'data-component': item.name }, h('div', { class: 'who' }, sdb.swatch(item), h('bdi', {}, item.name), ...sdb.badges(item)),
    h('div', { class: 'big num' }, inForce === null ? '–' : `${sdb.percent(inForce)} %`, range && h('span', { class: 'range' }, range)), bar,
    h('div', { class: 'facts' }, facts.filter(Boolean).join(' · ')));
};

const windowOf = (stream, width) => ({ from: stream.from, to: Math.max(stream.to, stream.from + 1e-9), width });
const rowValue = (lane) => sdb.percent(sdb.inForceOf(lane.seconds));

/* One of many streams: a button with its first lane. `value` is what stands at its end. */
sdb.streamRow = (stream, width, { pressed, onclick, note, value }) => {
  const lane = stream.lanes[0];
  const window = windowOf(stream, width);
  return h('button', { type: 'button', class: 'stream-row', 'data-stream': stream.id, 'aria-pressed': String(pressed), onclick },
    sdb.laneRow('component', [h('span', { class: 'name', title: stream.title }, h('bdi', { class: 'head' }, stream.title)), note && h('span', { class: 'badge part' }, note)],
      value ?? (lane ? rowValue(lane) : ''), sdb.track(lane ? lane.pieces.map(([from, to, kind]) => sdb.block(window, from, to, { class: `piece k-${sdb.classByColumn[kind].key}` })) : [])));
};

/* One stream large. `label(lane)` names a lane, `inBlock(text)` shortens a decision, `ids` shows them beside titles, `another(by)` goes to the
   next stream, `moved(stream, at)` hears where the cursor is. */
sdb.streamLanes = ({ label, inBlock = (text) => text, ids = false, another, moved = () => {} }) => {
  const plot = h('div', { class: 'lanes', id: 'lane-plot', tabindex: 0, role: 'group', 'aria-describedby': 'lane-hint' });
  const title = h('h3', { class: 'lane-title' });
  const hint = h('p', { class: 'muted small', id: 'lane-hint' }, 'Tap or point to read a moment out. On the keyboard: ← → move the cursor, ↑ ↓ change lane, + − zoom, Home shows all, Page Up and Page Down choose another stream.');
  const now = { stream: null, cursor: null, row: 0, window: null, drawn: null };

  /* Neighbours that look alike are one block, whichever answers they came from. */
  const pieceBlocks = (window, lane) => {
    const blocks = [];
    lane.pieces.forEach(([from, to, kind, , text]) => {
      const last = blocks[blocks.length - 1];
      if (last && last.kind === kind && last.text === text) last.to = to;
      else blocks.push({ from, to, kind, text });
    });
    return blocks.map(({ from, to, kind, text }) => sdb.block(window, from, to,
      { class: `piece k-${sdb.classByColumn[kind].key}` }, text && sdb.wide(window, from, to, 52) && h('span', { class: 'block-text' }, inBlock(text))));
  };

  const draw = () => {
    const { stream } = now;
    if (!stream || !plot.clientWidth) return;
    const whole = windowOf(stream, plot.clientWidth > 700 ? plot.clientWidth - 270 : plot.clientWidth);
    const window = now.window ? { ...now.window, width: whole.width } : whole;
    title.replaceChildren(h('bdi', {}, stream.title), h('span', { class: 'muted' }, ` ${ids && stream.id !== stream.title ? `${stream.id} · ` : ''}${sdb.plural(stream.states, 'state')}${stream.open ? ' · running' : ''}`));
    const reference = sdb.track(stream.reference.map(([from, to, text], i) => sdb.block(window, from, to, { class: `ref${i % 2 ? ' odd' : ''}` },
      text !== null && sdb.wide(window, from, to, 30) && h('span', { class: 'block-text' }, inBlock(text)))));
    const rows = stream.lanes.map((lane) => sdb.laneRow('component', label(lane), rowValue(lane), sdb.track(pieceBlocks(window, lane))));
    now.drawn = { window, whole, track: reference };
    plot.replaceChildren(sdb.laneRow('axis', h('span', { class: 'muted' }, 'seconds'), '', sdb.axisTrack(window)),
      sdb.laneRow('reference', 'reference', '', reference), ...rows, h('div', { class: 'lane-cursor', hidden: true }));
    plot.setAttribute('aria-label', `Lanes of ${stream.title}: ${stream.lanes.map((lane) => `${lane.component} right ${rowValue(lane)} % of the time`).join(', ')}.`);
    placeCursor();
  };

  const placeCursor = () => {
    const cursor = plot.querySelector('.lane-cursor');
    const { drawn } = now;
    if (!cursor || !drawn) return;
    cursor.hidden = now.cursor === null;
    plot.querySelectorAll('.lane.component').forEach((lane, i) => lane.classList.toggle('focused', now.cursor !== null && i === now.row));
    if (cursor.hidden) return;
    const box = drawn.track.getBoundingClientRect();
    const home = plot.getBoundingClientRect();
    cursor.style.left = `${box.left - home.left + (sdb.percentOf(drawn.window, now.cursor) / 100) * box.width}px`;
  };

  /* What is in force at the cursor, shown and spoken. */
  const readOut = () => {
    const lane = now.stream.lanes[now.row];
    const at = now.cursor;
    const right = now.stream.reference.find(([from, to]) => from <= at && at < to);
    const piece = lane?.pieces.find(([from, to]) => from <= at && at < to);
    const kind = piece && sdb.classByColumn[piece[2]];
    const nodes = [h('p', { class: 'tip-head' }, `${sdb.fixed(at, 2)} s`), h('p', {}, h('span', { class: 'muted' }, 'reference '), right && right[2] !== null ? right[2] : 'not known')];
    if (piece) {
      nodes.push(h('p', { class: 'tip-rec' }, h('b', {}, lane.component)), h('p', {}, h('span', { class: `chip k-${kind.key}` }), ` ${kind.label}`, piece[3] >= 0 && h('span', { class: 'muted' }, `, answer to step ${piece[3]}`)));
      if (piece[4]) nodes.push(h('p', {}, h('span', { class: 'muted' }, 'in force '), piece[4]));
    }
    const cursor = plot.querySelector('.lane-cursor').getBoundingClientRect();
    sdb.tip(nodes, cursor.left, plot.getBoundingClientRect().bottom - 20);
    sdb.say(`${sdb.fixed(at, 1)} seconds${piece ? `: ${lane.component} ${kind.label}${piece[4] ? `, ${piece[4]}` : ''}` : ''}`);
  };

  const moveTo = (at) => {
    now.cursor = Math.min(Math.max(at, now.stream.from), now.stream.to);
    placeCursor();
    readOut();
    moved(now.stream, now.cursor);
  };
  const zoom = (factor) => {
    const { window, whole } = now.drawn;
    const around = now.cursor ?? (window.from + window.to) / 2;
    const width = Math.min((window.to - window.from) * factor, whole.to - whole.from);
    const from = Math.min(Math.max(around - width / 2, whole.from), whole.to - width);
    now.window = width >= whole.to - whole.from ? null : { from, to: from + width };
    draw();
  };
  plot.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !now.drawn) return;
    const { window } = now.drawn;
    const step = (window.to - window.from) / (event.shiftKey ? 500 : 50);
    const here = now.cursor ?? window.from;
    const lanes = now.stream.lanes.length;
    const keys = {
      ArrowRight: () => moveTo(here + step), ArrowLeft: () => moveTo(here - step),
      ArrowDown: () => { now.row = Math.min(now.row + 1, lanes - 1); moveTo(here); },
      ArrowUp: () => { now.row = Math.max(now.row - 1, 0); moveTo(here); },
      '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2),
      Home: () => { now.window = null; draw(); }, PageDown: () => another(1), PageUp: () => another(-1),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  plot.addEventListener('pointermove', (event) => {
    const box = now.drawn?.track.getBoundingClientRect();
    if (!box || event.clientX < box.left || event.clientX > box.right) return;
    const over = event.target.closest('.lane.component');
    if (over) now.row = [...plot.querySelectorAll('.lane.component')].indexOf(over);
    const { window } = now.drawn;
    moveTo(window.from + ((event.clientX - box.left) / box.width) * (window.to - window.from));
  });
  plot.addEventListener('pointerleave', sdb.hideTip);
  plot.addEventListener('blur', sdb.hideTip);
  sdb.fit(plot, draw);

  /* The same stream again keeps its cursor and window; another one begins anew. */
  const show = (stream) => {
    if (stream?.id !== now.stream?.id) Object.assign(now, { cursor: null, row: 0, window: null });
    now.stream = stream;
    draw();
  };
  return { title, plot, hint, show };
};
