import type { Asked, DecisionRate } from "./decisions.ts";
import type { Measured } from "./measure.ts";
import type { Plan } from "./plan.ts";
import { atLeast, atMost, count, table } from "./table.ts";

type Section = { readonly measured: Measured; readonly plan: Plan; readonly judged: boolean };

const ENGINE_TARGET = 20_000;
const ENGINE_TARGET_REQUEST = "1 voucher, 3 lines, 2 rules";
const GROWTH_TARGET = 1.2;
/** Twice the lines may cost twice as much. */
const LINES_TARGET = 1;

/** What validations cost, alone and as they grow. */
export const decisionSections = (section: Section): string =>
  [validations(section), lines(section), growth(section), engine(section)].join("\n");

const validations = ({ measured, plan }: Section): string => `
## Validations

\`POST /v1/validations\` with a customer and an order, ${Math.min(...plan.clients)} clients; medians of ${plan.turns} turns of ${plan.turnSeconds} s.
CPU is what one takes in microseconds, of Node and Postgres. Each discount is worked out line by line.

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

function lines({ measured, judged }: Section): string {
  const rows = [1, 5].map((redeemables) => {
    const of = (lineCount: number) => find(measured, { redeemables, rules: 0, lines: lineCount });
    const ratio = perLine(of(100)) / perLine(of(3));
    return [
      count(redeemables),
      perLine(of(3)).toFixed(0),
      perLine(of(100)).toFixed(0),
      ratio.toFixed(2),
      judged ? atMost(ratio, LINES_TARGET) : "–",
    ];
  });
  return table(
    ["redeemables", "CPU per line of 3", "CPU per line of 100", "ratio", "target"],
    rows,
  );
}

const perLine = ({ cpuMicroseconds, lines: lineCount }: DecisionRate): number =>
  cpuMicroseconds / lineCount;

function find({ decisions }: Measured, asked: Asked): DecisionRate {
  const found = decisions.find(
    (row) =>
      row.redeemables === asked.redeemables &&
      row.rules === asked.rules &&
      row.lines === asked.lines,
  );
  if (found === undefined) throw new Error(`not measured: ${JSON.stringify(asked)}`);
  return found;
}

const growth = ({ measured, judged }: Section): string => `
## Validations among many

\`POST /v1/vouchers/{code}/validate\` with an order. Each size is an installation of its own on the one
server, in turns; the ratio is what a validation takes, to what it takes in the first. The last row is
no comparison: 100,000 codes in turn are more than the process keeps in memory.

${table(
  ["vouchers", "promotion tiers", "codes drawn from", "per s", "ratio", "target"],
  measured.growth.map((row, index) => [
    count(row.vouchers),
    count(row.tiers),
    count(row.drawn),
    count(row.perSecond),
    row.slower.toFixed(2),
    judged && index > 0 && row.drawn === measured.growth[0]?.drawn
      ? atMost(row.slower, GROWTH_TARGET)
      : "–",
  ]),
)}`;

const engine = ({ measured, judged }: Section): string => `
## The engine alone

Decisions of the pure engine per second of one core: no database, no messages.

${table(
  ["request", "per s", "target"],
  measured.engine.map(({ request, perSecond }) => [
    request,
    count(perSecond),
    judged && request === ENGINE_TARGET_REQUEST ? atLeast(perSecond, ENGINE_TARGET) : "–",
  ]),
)}`;
