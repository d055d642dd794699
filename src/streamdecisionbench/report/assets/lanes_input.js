// Pointing at lanes: cursor, read-out, zoom by drag and wheel, and the same from the keyboard.

sdb.placeCursor = () => {
  const plot = document.getElementById('lane-plot');
  const cursor = plot.querySelector('.lane-cursor');
  if (!cursor) return;
  const out = lanes.cursor === null || lanes.cursor < lanes.from || lanes.cursor > lanes.to;
  cursor.hidden = out;
  plot.querySelectorAll('.lane.component').forEach((lane, i) => lane.classList.toggle('focused', !out && i === lanes.row));
  if (out) return;
  const box = lanes.tracks[0].getBoundingClientRect();
  const home = plot.getBoundingClientRect();
  const share = (lanes.cursor - lanes.from) / (lanes.to - lanes.from);
  cursor.style.left = `${box.left - home.left - plot.clientLeft + share * box.width}px`;
};

/* Everything about one instant of one lane: {tick, step, opened, piece, …}. */
sdb.instant = (tick, rowIndex) => {
  sdb.freshLanes();
  const scenario = scenarioNow();
  const row = lanes.rows[rowIndex];
  const n = ticksOf(scenario);
  let step = 0;
  if (row) {
    const time = tick * row.line.tick;
    while (step + 1 < n && row.line.r[step + 1] <= time) step += 1;
  } else {
    while (step + 1 < n && sdb.tickOf(scenario, step + 1) <= tick) step += 1;
  }
  const opened = sdb.segments(scenario).find((s) => s.from <= step && step < s.to).step;
  const piece = row ? row.pieces.find((p) => p.from <= tick && tick < p.to) || null : null;
  return { scenario, row, tick, step, opened, piece };
};

const differing = (decision, other) => {
  const expected = new Map(other);
  return decision.map(([q, value], i) => h(expected.get(q) === value ? 'span' : 'mark', {}, `${i ? ' · ' : ''}${q} ${value}`));
};

const readOutNodes = (at) => {
  const { scenario, row, tick, step, opened, piece } = at;
  const expected = scenario.decisions[scenario.reference[step]];
  const nodes = [h('p', { class: 'tip-head' }, `step ${step}, at ${sdb.fixed(tick, 2)} (${sdb.fixed(tick * sdb.state.interval, 2)} s)`)];
  nodes.push(h('p', {}, h('span', { class: 'muted' }, 'reference '), expected.map(([q, v], i) => `${i ? ' · ' : ''}${q} ${v}`).join('')));
  if (row) {
    nodes.push(h('p', { class: 'tip-rec' }, h('b', {}, row.rec.name), ...sdb.badges(row.rec)));
    if (piece) {
      const kind = sdb.classByColumn[piece.kind];
      nodes.push(h('p', {}, h('span', { class: `chip k-${kind.key}` }), ` ${kind.label}`,
        piece.source >= 0 && h('span', { class: 'muted' }, `, answer to step ${sourceText(row.line, piece.source)}`)));
      if (piece.source >= 0) nodes.push(h('p', {}, h('span', { class: 'muted' }, 'in force '), differing(scenario.decisions[row.line.p[piece.source]], expected)));
    }
  }
  for (const [label, at_] of opened === step ? [['changed here', step]] : [[`step ${step}`, step], [`last change, step ${opened}`, opened]]) {
    const notes = notesAt(scenario, at_);
    if (notes.length) nodes.push(h('p', { class: 'muted tip-label' }, label), h('ul', { class: 'tip-notes' }, notes.map((note) => h('li', {}, note))));
  }
  return nodes;
};

const spoken = ({ scenario, row, tick, step, opened, piece }) => {
  const text = [`Step ${step}, at ${sdb.fixed(tick, 2)}.`, `Reference ${sdb.decisionLong(scenario.decisions[scenario.reference[step]])}.`];
  if (row && piece) {
    text.push(`${row.rec.name}${sdb.mark(row.rec)}: ${sdb.classByColumn[piece.kind].label}${piece.source < 0 ? '' : `, answer to step ${sourceText(row.line, piece.source)}, ${sdb.decisionLong(scenario.decisions[row.line.p[piece.source]])}`}.`);
  }
  const notes = notesAt(scenario, opened);
  if (notes.length) text.push(`Last change at step ${opened}: ${notes.join('; ')}.`);
  return text.join(' ');
};

sdb.laneInput = ({ plot }) => {
  const tickAt = (event) => {
    const box = lanes.tracks[0].getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    return lanes.from + share * (lanes.to - lanes.from);
  };
  const rowAt = (event) => {
    const found = lanes.tracks.slice(1).findIndex((t) => {
      const lane = t.parentElement.getBoundingClientRect();
      return event.clientY >= lane.top && event.clientY < lane.bottom;
    });
    return found < 0 ? lanes.row : found;
  };
  const overTracks = (event) => {
    const box = lanes.tracks[0].getBoundingClientRect();
    return event.clientX >= box.left - 4 && event.clientX <= box.right + 4;
  };
  let pressed = null;
  const brush = () => plot.querySelector('.lane-brush');

  plot.addEventListener('pointermove', (event) => {
    if (!overTracks(event) && pressed === null) { sdb.hideTip(); return; }
    lanes.cursor = tickAt(event);
    lanes.row = rowAt(event);
    sdb.placeCursor();
    sdb.tip(readOutNodes(sdb.instant(lanes.cursor, lanes.row)), event.clientX, event.clientY);
    if (pressed === null) return;
    const box = lanes.tracks[0].getBoundingClientRect();
    const home = plot.getBoundingClientRect();
    const place = (tick) => box.left - home.left + ((tick - lanes.from) / (lanes.to - lanes.from)) * box.width;
    const [a, b] = [pressed, lanes.cursor].sort((x, y) => x - y);
    brush().hidden = false;
    brush().style.left = `${place(a)}px`;
    brush().style.width = `${place(b) - place(a)}px`;
  });
  plot.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || !overTracks(event)) return;
    pressed = tickAt(event);
    plot.setPointerCapture(event.pointerId);
    lanes.cursor = pressed;
    lanes.row = rowAt(event);
    sdb.placeCursor();
    sdb.tip(readOutNodes(sdb.instant(lanes.cursor, lanes.row)), event.clientX, event.clientY);
  });
  plot.addEventListener('pointerup', (event) => {
    if (pressed === null) return;
    const [a, b] = [pressed, tickAt(event)].sort((x, y) => x - y);
    pressed = null;
    brush().hidden = true;
    if (b - a > (lanes.to - lanes.from) / 60) sdb.showTicks(a, b);
  });
  plot.addEventListener('pointercancel', () => { pressed = null; brush().hidden = true; });
  plot.addEventListener('pointerleave', (event) => { if (pressed === null && event.pointerType !== 'touch') sdb.hideTip(); });
  plot.addEventListener('blur', sdb.leaveTip);
  plot.addEventListener('dblclick', () => sdb.showTicks(0, Infinity));
  plot.addEventListener('wheel', (event) => {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      sdb.zoomLanes(event.deltaY > 0 ? 1.25 : 0.8, tickAt(event));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      sdb.panLanes((event.deltaX || event.deltaY) / 800);
    }
  }, { passive: false });

  const goTo = (tick) => {
    lanes.cursor = Math.min(Math.max(tick, 0), ticksOf(scenarioNow()) - 1e-6);
    const width = lanes.to - lanes.from;
    if (lanes.cursor < lanes.from || lanes.cursor > lanes.to) sdb.showTicks(lanes.cursor - width / 2, lanes.cursor + width / 2);
    sdb.placeCursor();
    const at = sdb.instant(lanes.cursor, lanes.row);
    const cursor = plot.querySelector('.lane-cursor').getBoundingClientRect();
    const track = (lanes.tracks[lanes.row + 1] || lanes.tracks[0]).getBoundingClientRect();
    sdb.tip(readOutNodes(at), cursor.left, track.bottom);
    sdb.say(spoken(at));
  };
  const change = (direction) => {
    const here = lanes.cursor ?? (direction > 0 ? -1 : Infinity);
    const scenario = scenarioNow();
    const at = (step) => sdb.tickOf(scenario, step);
    const starts = sdb.segments(scenario).map((s) => s.step).filter((s) => (direction > 0 ? at(s) > here + 1e-9 : at(s) < here - 2e-2));
    if (!starts.length) return here;
    const step = direction > 0 ? starts[0] : starts[starts.length - 1];
    // States come a little after their tick: the cursor goes to where the change is really in force.
    const row = lanes.rows[lanes.row];
    return row ? Math.max(at(step), row.line.r[step] / row.line.tick + 1e-6) : at(step);
  };
  plot.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const here = lanes.cursor ?? lanes.from;
    const unit = event.shiftKey ? 0.1 : 1;
    const keys = {
      ArrowRight: () => goTo(here + unit),
      ArrowLeft: () => goTo(here - unit),
      ArrowDown: () => { lanes.row = Math.min(lanes.row + 1, Math.max(lanes.rows.length - 1, 0)); goTo(here); },
      ArrowUp: () => { lanes.row = Math.max(lanes.row - 1, 0); goTo(here); },
      PageDown: () => goTo(change(1)),
      PageUp: () => goTo(change(-1)),
      '+': () => sdb.zoomLanes(0.5),
      '=': () => sdb.zoomLanes(0.5),
      '-': () => sdb.zoomLanes(2),
      Home: () => sdb.showTicks(0, Infinity),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  sdb.fit(plot, () => drawLanes(plot));
};
