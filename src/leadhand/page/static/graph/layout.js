// Places nodes from left to right: ranks by the longest path, order by barycentres, heights so that
// neighbours are level with each other where there is room. Pure; changes the nodes and edges it is given.

const GAP = { rank: 64, row: 20, column: 14, part: 48 };
const SWEEPS = 8, LARGE = 1200;
const ASPECT = 2.2; // of the whole: a wide window

// Sets `x`, `y` of each node and `points` of each edge; gives {w, h}. Parts without an edge between
// them are placed on their own, and packed close together.
export function layout(nodes, edges) {
  if (!nodes.length) return { w: 0, h: 0 };
  const found = parts(nodes, edges).map((part) => ({ ...part, ...ranked(part.nodes, part.edges) }));
  const size = packed(found);
  for (const part of found) {
    for (const node of part.nodes) [node.x, node.y] = [node.x + part.x, node.y + part.y];
    for (const edge of part.edges) edge.points = edge.points.map(([x, y]) => [x + part.x, y + part.y]);
  }
  return size;
}

// The connected parts, those of several nodes first.
function parts(nodes, edges) {
  const root = new Map(nodes.map((node) => [node.id, node.id])), by = new Map();
  const top = (id) => {
    while (root.get(id) !== id) root.set(id, root.get(root.get(id))), (id = root.get(id));
    return id;
  };
  for (const edge of edges) root.set(top(edge.to), top(edge.from));
  const of = (id) => by.get(top(id)) ?? (by.set(top(id), { nodes: [], edges: [] }), by.get(top(id)));
  for (const node of nodes) of(node.id).nodes.push(node);
  for (const edge of edges) of(edge.from).edges.push(edge);
  return [...by.values()].sort((one, two) => Math.sign(two.edges.length) - Math.sign(one.edges.length));
}

// Places parts in shelves from left to right; smaller ones stand above each other beside a tall one.
function packed(found) {
  const area = found.reduce((sum, part) => sum + (part.w + GAP.part) * (part.h + GAP.row), 0);
  const wide = Math.max(Math.sqrt(area * ASPECT), ...found.map((part) => part.w));
  let shelf = { y: 0, h: 0 }, column = { x: 0, w: 0, y: 0 }, w = 0;
  for (const part of found) {
    if (column.y && (column.y + part.h > shelf.h || part.w > column.w)) column = { x: column.x + column.w + GAP.part, w: 0, y: 0 };
    if (column.x + part.w > wide && column.x) {
      shelf = { y: shelf.y + shelf.h + GAP.part, h: 0 };
      column = { x: 0, w: 0, y: 0 };
    }
    Object.assign(part, { x: column.x, y: shelf.y + column.y });
    shelf.h = Math.max(shelf.h, column.y + part.h);
    column.w = Math.max(column.w, part.w);
    column.y += part.h + GAP.row;
    w = Math.max(w, part.x + part.w);
  }
  return { w, h: shelf.y + shelf.h };
}

// One part, whose nodes all hang together: {w, h}.
function ranked(nodes, edges) {
  const byId = new Map(nodes.map((node) => [node.id, node])), large = nodes.length > LARGE;
  for (const node of nodes) Object.assign(node, { rank: 0, before: [], after: [] });
  rank(nodes, edges, byId);
  const bends = large ? [] : bent(edges, byId);
  const ranks = [];
  for (const node of [...nodes, ...bends]) (ranks[node.rank] ??= []).push(node);
  for (let index = 0; index < ranks.length; index += 1) ranks[index] ??= [];
  if (large) for (const edge of edges) join(byId.get(edge.from), byId.get(edge.to));
  order(ranks, large ? 2 : Math.min(SWEEPS, nodes.length));
  const rows = Math.max(16, Math.ceil(Math.sqrt(nodes.length * 1.5)));
  const w = across(ranks, rows);
  const h = down(ranks, rows, large ? 4 : Math.min(16, 2 * nodes.length));
  for (const edge of edges) edge.points = route(byId.get(edge.from), byId.get(edge.to), edge.bends ?? []);
  return { w, h };
}

function rank(nodes, edges, byId) {
  const after = new Map(nodes.map((node) => [node, []]));
  for (const edge of edges) after.get(byId.get(edge.from)).push(byId.get(edge.to));
  for (const node of inOrder(after)) for (const next of after.get(node)) next.rank = Math.max(next.rank, node.rank + 1);
}

// The keys, each before those that come after it by the lists; in a circle as they are.
export function inOrder(after) {
  const left = new Map([...after.keys()].map((key) => [key, 0]));
  for (const list of after.values()) for (const next of list) left.set(next, left.get(next) + 1);
  const ready = [...left.keys()].filter((key) => left.get(key) === 0);
  for (const key of ready) {
    for (const next of after.get(key)) {
      left.set(next, left.get(next) - 1);
      if (left.get(next) === 0) ready.push(next);
    }
  }
  return ready.length === left.size ? ready : [...left.keys()];
}

function join(from, to) {
  from.after.push(to);
  to.before.push(from);
}

// An edge over several ranks gets a bend in each of them, so that it runs between the nodes.
function bent(edges, byId) {
  const made = [];
  for (const edge of edges) {
    let last = byId.get(edge.from);
    const to = byId.get(edge.to);
    edge.bends = [];
    for (let place = last.rank + 1; place < to.rank; place += 1) {
      const bend = { rank: place, w: 0, h: 6, before: [], after: [], bend: true };
      join(last, bend);
      edge.bends.push(bend);
      made.push(bend);
      last = bend;
    }
    join(last, to);
  }
  return made;
}

function order(ranks, sweeps) {
  const number = (rank) => rank.forEach((node, index) => (node.place = index));
  ranks.forEach(number);
  const mean = (near, own) => (near.length ? near.reduce((sum, node) => sum + node.place, 0) / near.length : own);
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    const downward = sweep % 2 === 0;
    for (const rank of downward ? ranks : [...ranks].reverse()) {
      for (const node of rank) node.wish = mean(downward ? node.before : node.after, node.place);
      rank.sort((one, two) => one.wish - two.wish || one.place - two.place);
      number(rank);
    }
  }
}

// A rank with too many nodes is wrapped into several columns.
function across(ranks, rows) {
  let x = 0;
  for (const rank of ranks) {
    const columns = Math.ceil(rank.length / rows) || 1, wide = Math.max(0, ...rank.map((node) => node.w));
    rank.forEach((node, index) => (node.x = x + (columns > 1 ? Math.floor(index / rows) * (wide + GAP.column) : 0)));
    const end = x + columns * wide + (columns - 1) * GAP.column;
    for (const node of rank) Object.assign(node, { left: x, right: end }, node.bend && { w: wide });
    x = end + GAP.rank;
  }
  return x - GAP.rank;
}

function down(ranks, rows, rounds) {
  const stack = (nodes) => {
    let y = 0;
    for (const node of nodes) [node.y, y] = [y, y + node.h + GAP.row];
  };
  const middle = (node) => node.y + node.h / 2;
  for (const rank of ranks) for (let start = 0; start < rank.length; start += rows) stack(rank.slice(start, start + rows));
  const tall = Math.max(...ranks.flat().map((node) => node.y + node.h));
  for (const rank of ranks) {
    const shift = (tall - Math.max(0, ...rank.map((node) => node.y + node.h))) / 2;
    for (const node of rank) node.y += shift;
  }
  for (let round = 0; round < rounds; round += 1) {
    const downward = round % 2 === 0;
    for (const rank of downward ? ranks : [...ranks].reverse()) {
      if (rank.length > rows) continue;
      settle(rank, (node) => {
        const near = round >= rounds - 2 ? [...node.before, ...node.after] : downward ? node.before : node.after;
        return near.length ? near.reduce((sum, one) => sum + middle(one), 0) / near.length - node.h / 2 : node.y;
      });
    }
  }
  const top = Math.min(...ranks.flat().map((node) => node.y));
  for (const node of ranks.flat()) node.y -= top;
  return Math.max(...ranks.flat().map((node) => node.y + node.h));
}

// The heights nearest to what the nodes of a rank wish that keep their order and distance: pool
// adjacent violators (Barlow et al., 1972).
function settle(rank, wish) {
  const blocks = [];
  let offset = 0;
  for (const node of rank) {
    node.offset = offset;
    blocks.push({ sum: (wish(node) - offset) * (node.bend ? 0.3 : 1), weight: node.bend ? 0.3 : 1, nodes: [node] });
    offset += node.h + (node.bend ? GAP.row / 2 : GAP.row);
    while (blocks.length > 1) {
      const [one, two] = blocks.slice(-2);
      if (one.sum / one.weight <= two.sum / two.weight) break;
      blocks.splice(-2, 2, { sum: one.sum + two.sum, weight: one.weight + two.weight, nodes: one.nodes.concat(two.nodes) });
    }
  }
  for (const block of blocks) for (const node of block.nodes) node.y = block.sum / block.weight + node.offset;
}

const route = (from, to, bends) => [
  [from.x + from.w, from.y + from.h / 2],
  ...between(from, from.x + from.w + GAP.column, from.right),
  ...bends.flatMap((bend) => [[bend.x, bend.y + bend.h / 2], [bend.x + bend.w, bend.y + bend.h / 2]]),
  ...between(to, to.left, to.x - GAP.column),
  [to.x, to.y + to.h / 2],
];

// Past the other columns of a wrapped rank, above its row.
const between = ({ y }, x, end) => (end > x ? [[x, y - GAP.row / 2], [end, y - GAP.row / 2]] : []);

// The points as an SVG path with horizontal tangents, moved by (dx, dy).
export function curve(points, dx, dy) {
  let [x, y] = points[0], path = `M${x + dx} ${y + dy}`;
  for (const [nextX, nextY] of points.slice(1)) {
    const half = (nextX - x) / 2;
    path += `C${x + half + dx} ${y + dy} ${nextX - half + dx} ${nextY + dy} ${nextX + dx} ${nextY + dy}`;
    [x, y] = [nextX, nextY];
  }
  return path;
}
