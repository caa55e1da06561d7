import type { Decimal } from "@scrip/money";

/** Binary operators, by binding power. */
export type Operator = LogicOperator | ComparisonOperator | ArithmeticOperator;

export type LogicOperator = "OR" | "AND";

export type ComparisonOperator =
  | ">"
  | "<"
  | ">="
  | "<="
  | "="
  | "!="
  | "CONTAINS"
  | "STARTSWITH"
  | "ENDSWITH"
  | "IN_ARRAY"
  | "NOT_IN_ARRAY"
  | "DATE_IS"
  | "DATE_IS_NOT"
  | "IS_AFTER"
  | "IS_BEFORE";

export type ArithmeticOperator = "+" | "-" | "*" | "/" | "%";

/** The syntax tree of a formula. Names are upper case and are resolved at evaluation. */
export type Node =
  | { readonly kind: "number"; readonly value: Decimal }
  | { readonly kind: "text"; readonly value: string }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "call"; readonly name: string; readonly arguments: readonly Node[] }
  | {
      readonly kind: "switch";
      readonly subject: Node;
      readonly cases: readonly SwitchCase[];
      readonly otherwise: Node;
    }
  | { readonly kind: "minus"; readonly operand: Node }
  | {
      readonly kind: "binary";
      readonly operator: Operator;
      readonly left: Node;
      readonly right: Node;
    };

export type SwitchCase = { readonly when: Node; readonly result: Node };

/** Where a formula does not follow the grammar; positions count from 1. */
export class FormulaSyntaxError extends Error {
  override readonly name = "FormulaSyntaxError";
}
