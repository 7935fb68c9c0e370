// The surface between the nodes, as surface.py has it.

// Lagrange's weights of some nodes around a place, and the first of them.
function weightsAt(at, count, most) {
  const order = Math.min(most, count);
  const first = Math.min(Math.max(Math.floor(at) - Math.floor((order - 1) / 2), 0), count - order);
  const weights = [];
  for (let i = 0; i < order; i++) {
    let weight = 1;
    for (let j = 0; j < order; j++) if (j !== i) weight *= (at - first - j) / (i - j);
    weights.push(weight);
  }
  return [weights, first];
}

// The value of a table of some dimensions, from some place of it on, between its nodes.
function between(table, start, shape, places, most) {
  let sums = [[start, 1]];
  shape.forEach((count, axis) => {
    const [weights, first] = weightsAt(places[axis], count, most);
    const stride = shape.slice(axis + 1).reduce((a, b) => a * b, 1);
    sums = sums.flatMap(([at, product]) => weights.map((w, i) => [at + (first + i) * stride, product * w]));
  });
  return sums.reduce((sum, [at, weight]) => sum + weight * table[at], 0);
}

// Throughput of a sender [packets/s].
function throughput(grid, sender, loss, rtt) {
  const places = [(Math.log(loss) - grid.origin[0]) / grid.fine[0], (Math.log(rtt) - grid.origin[1]) / grid.fine[1]];
  const [rows, columns] = grid.throughputShape;
  return Math.exp(between(grid.throughputs, sender * rows * columns, [rows, columns], places, 4));
}

// Logits and errors of the late fraction and of P(any stall).
function evaluate(grid, sender, loss, rtt, rate, delay) {
  const logs = [loss, rtt, throughput(grid, sender, loss, rtt) / rate, delay].map(Math.log);
  const places = logs.map((x, i) => (x - grid.origin[i]) / grid.step[i]);
  const whole = grid.shape.reduce((a, b) => a * b, 1), part = grid.shape[2] * grid.shape[3];
  return [0, 1].map(q => [
    between(grid.values, (2 * sender + q) * whole, grid.shape, places, 4),
    between(grid.errors, (2 * sender + q) * part, grid.shape.slice(2), places.slice(2), 2),
  ]);
}

const chance = logit => 1 / (1 + Math.exp(-logit));
