import type { Hint as HintMessage } from "@scrip/proto/scrip/validation/v1/validations_pb";

import type { Hint } from "../domain/decision/hint.ts";
import { toTimestamp } from "../loading/timestamps.ts";
import type { Reader } from "./explanation.ts";

/** What would have to change. Client-side callers are told amounts and dates, never members of lists. */
export const hintMessages = (hints: readonly Hint[], reader: Reader): HintMessage[] =>
  reader === "server"
    ? hints.map(hintMessage)
    : hints
        .filter(({ anyOf, property }) => anyOf.length === 0 && property === null)
        .map((hint) => hintMessage({ ...hint, validationRuleId: null }));

const hintMessage = (hint: Hint): HintMessage => ({
  $typeName: "scrip.validation.v1.Hint",
  message: hint.message,
  name: hint.name,
  anyOf: [...hint.anyOf],
  ...(hint.property !== null && { property: hint.property }),
  ...(hint.validationRuleId !== null && { validationRuleId: hint.validationRuleId }),
  ...(hint.difference !== null && { difference: hint.difference }),
  ...(hint.from !== null && { from: toTimestamp(hint.from) }),
});
