import { instantToProto } from "@scrip/mapping";
import type { Hint as HintMessage } from "@scrip/proto/scrip/validation/v1/validations_pb";

import type { Hint } from "../domain/decision/hint.ts";
import type { Audience } from "./explanation.ts";

/**
 * Changes that would make the redeemable apply. Client-side callers see amounts and dates, never
 * list members.
 */
export const hintsToProto = (hints: readonly Hint[], audience: Audience): HintMessage[] =>
  audience === "server"
    ? hints.map(hintToProto)
    : hints
        .filter(({ anyOf, property }) => anyOf.length === 0 && property === null)
        .map((hint) => hintToProto({ ...hint, validationRuleId: null }));

const hintToProto = (hint: Hint): HintMessage => ({
  $typeName: "scrip.validation.v1.Hint",
  message: hint.message,
  name: hint.name,
  anyOf: [...hint.anyOf],
  ...(hint.property !== null && { property: hint.property }),
  ...(hint.validationRuleId !== null && { validationRuleId: hint.validationRuleId }),
  ...(hint.difference !== null && { difference: hint.difference }),
  ...(hint.from !== null && { from: instantToProto(hint.from) }),
});
