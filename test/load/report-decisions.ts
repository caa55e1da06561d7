import type { DecisionCase, DecisionRate } from "./decisions.ts";
import type { Measured } from "./measure.ts";
import type { Plan } from "./plan.ts";
import { atLeast, atMost, count, table } from "./table.ts";

type Section = { readonly measured: Measured; readonly plan: Plan; readonly hasTargets: boolean };

const ENGINE_TARGET = 20_000;
const ENGINE_TARGET_REQUEST = "1 voucher, 3 lines, 2 rules";
const GROWTH_TARGET = 1.2;
/** Twice the lines may cost twice as much. */
const LINES_TARGET = 1;

/** The cost of validations, by their size and by the size of the installation. */
export const decisionSections = (section: Section): string =>
  [validations(section), lines(section), growth(section), engine(section)].join("\n");

const validations = ({ measured, plan }: Section): string => `
## Validations

\`POST /v1/validations\` with a customer and an order, ${Math.min(...plan.clients)} clients; medians of ${plan.validationRounds} rounds of ${plan.validationSeconds} s.
CPU is the processor time per validation in microseconds, of Node and Postgres. Each discount is calculated line by line.

${table(
  ["redeemables", "rules each", "lines", "per s", "p50 ms", "CPU"],
  measured.decisions.map((row) => [
    count(row.redeemables),
    count(row.rules),
    count(row.lines),
    count(row.perSecond),
    row.p50Ms.toFixed(1),
    count(row.cpuMicroseconds),
  ]),
)}`;

function lines({ measured, hasTargets }: Section): string {
  const rows = [1, 5].map((redeemables) => {
    const of = (lineCount: number) => find(measured, { redeemables, rules: 0, lines: lineCount });
    const ratio = perLine(of(100)) / perLine(of(3));
    return [
      count(redeemables),
      perLine(of(3)).toFixed(0),
      perLine(of(100)).toFixed(0),
      ratio.toFixed(2),
      hasTargets ? atMost(ratio, LINES_TARGET) : "–",
    ];
  });
  return table(
    ["redeemables", "CPU per line of 3", "CPU per line of 100", "ratio", "target"],
    rows,
  );
}

const perLine = ({ cpuMicroseconds, lines: lineCount }: DecisionRate): number =>
  cpuMicroseconds / lineCount;

function find({ decisions }: Measured, wanted: DecisionCase): DecisionRate {
  const found = decisions.find(
    (row) =>
      row.redeemables === wanted.redeemables &&
      row.rules === wanted.rules &&
      row.lines === wanted.lines,
  );
  if (found === undefined) throw new Error(`not measured: ${JSON.stringify(wanted)}`);
  return found;
}

const growth = ({ measured, hasTargets }: Section): string => `
## Validations among many

\`POST /v1/vouchers/{code}/validate\` with an order. Each size is an installation of its own on one
server, measured in alternating rounds. The ratio is the time of a validation relative to the first row. The last row
is not compared: 100,000 codes exceed the cache of the process.

${table(
  ["vouchers", "promotion tiers", "codes drawn from", "per s", "ratio", "target"],
  measured.growth.map((row, index) => [
    count(row.vouchers),
    count(row.tiers),
    count(row.drawn),
    count(row.perSecond),
    row.slower.toFixed(2),
    hasTargets && index > 0 && row.drawn === measured.growth[0]?.drawn
      ? atMost(row.slower, GROWTH_TARGET)
      : "–",
  ]),
)}`;

const engine = ({ measured, hasTargets }: Section): string => `
## The engine alone

Decisions of the pure engine per second of one core: no database, no messages.

${table(
  ["request", "per s", "target"],
  measured.engine.map(({ request, perSecond }) => [
    request,
    count(perSecond),
    hasTargets && request === ENGINE_TARGET_REQUEST ? atLeast(perSecond, ENGINE_TARGET) : "–",
  ]),
)}`;
