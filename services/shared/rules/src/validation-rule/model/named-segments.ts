import type { Rule } from "./rule.ts";

/** Ids of the segments that the conditions of a rule compare with those of the customer. */
export const namedSegments = ({
  rules,
}: {
  readonly rules: ReadonlyMap<number, Rule>;
}): readonly string[] =>
  [...rules.values()].flatMap(({ name, conditions, children }) => [
    ...(name === "customer.segment" ? conditions.flatMap(textsOf) : []),
    ...(children === null ? [] : namedSegments(children)),
  ]);

const textsOf = (condition: Rule["conditions"][number]): readonly string[] =>
  "operands" in condition
    ? condition.operands.flatMap((operand) => (operand.kind === "text" ? [operand.value] : []))
    : [];
