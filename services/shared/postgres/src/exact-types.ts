import { type CustomTypesConfig, defaults, types } from "pg";

// In the time zone of the machine, the driver would lose the seconds of offsets from before standard time.
defaults.parseInputDatesAsUTC = true;

const INT8_ARRAY = 1016;

/**
 * bigint columns hold money and counters, which a JavaScript number would round silently. Dates
 * stay text: the driver would read them as midnight in the time zone of the machine.
 */
const PARSERS = new Map<number, (text: string) => unknown>([
  [types.builtins.INT8, BigInt],
  [INT8_ARRAY, parseInt8Array],
  [types.builtins.DATE, (text) => text],
]);

type Oid = Parameters<typeof types.getTypeParser>[0];

export const exactTypes: CustomTypesConfig = {
  getTypeParser: (oid: Oid, format?: "text" | "binary") =>
    (format === "binary" ? undefined : PARSERS.get(oid)) ?? types.getTypeParser(oid, format),
};

/** "{1,NULL,3}": one dimension, and integers are never quoted. */
function parseInt8Array(text: string): (bigint | null)[] {
  const items = text.slice(1, -1);
  if (items === "") return [];
  return items.split(",").map((item) => (item === "NULL" ? null : BigInt(item)));
}
