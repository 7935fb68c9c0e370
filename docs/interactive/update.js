// A slider has moved: curves, and the answer in words.
const grid = { ...fixed, values: values.data.table, errors: errors.data.table, throughputs: throughputs.data.table };
const sender = fixed.senders.indexOf(senders.value);
const p = loss.value / 100, R = rtt.value / 1000, kbps = fixed.bits / 1000;
const T = throughput(grid, sender, p, R) * kbps;
const [least, most] = [Math.ceil(T / fixed.loads[1] / 5) * 5, Math.floor(T / fixed.loads[0] / 5) * 5];
rate.start = least;
rate.end = most;
rate.value = Math.min(Math.max(rate.value, least), most);
const mu = rate.value / kbps;

const curves = { late: [], late_low: [], late_high: [], stall: [], stall_low: [], stall_high: [] };
for (const delay of curve.data.delay) {
  evaluate(grid, sender, p, R, mu, delay).forEach(([logit, error], q) => {
    const name = ["late", "stall"][q], shown = chance(logit) >= fixed.floors[q] && chance(logit) <= fixed.ceiling;
    curves[name].push(shown ? chance(logit) : NaN);
    curves[`${name}_low`].push(shown ? Math.max(chance(logit - error), fixed.floors[q]) : NaN);
    curves[`${name}_high`].push(shown ? chance(logit + error) : NaN);
  });
}
curve.data = { delay: curve.data.delay, ...curves };
now.location = delay.value;

function number(x) {
  if (x > fixed.ceiling) return `above ${100 * fixed.ceiling}%`;
  if (x > 0.9) return `${(100 * x).toFixed(x > 0.99 ? 2 : 1)}%`;
  return x < 1e-3 ? x.toExponential(1) : `${(100 * x).toPrecision(2)}%`;
}
function words([logit, error], floor) {
  if (chance(logit) < floor) return `below ${floor.toExponential(0)}`;
  if (chance(logit) > fixed.ceiling) return number(chance(logit));
  const low = chance(logit - error), from = low < floor ? `below ${floor.toExponential(0)}` : number(low);
  return `<b>${number(chance(logit))}</b> (between ${from} and ${number(chance(logit + error))})`;
}
const [late, stall] = evaluate(grid, sender, p, R, mu, delay.value);
answer.text =
  `<p role="status" style="margin:0">P(any stall) is ${words(stall, fixed.floors[1])} for a start-up delay of ${delay.value} s, ` +
  `and the late fraction f is ${words(late, fixed.floors[0])}. ` +
  `TCP's throughput is ${Math.round(T)} kbit/s, ${(T / rate.value).toFixed(2)} times the rate.</p>`;
