import { create } from "@bufbuild/protobuf";
import { invalidPayload } from "@scrip/errors";
import {
  type EarningCalculation,
  EarningCalculationSchema,
  type EarningMeasure,
} from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import { parseFormula } from "@scrip/rules";

import {
  type Calculation,
  CALCULATION_TYPES,
  type CalculationType,
  type ItemTarget,
  measuresOf,
} from "../domain/earning/earning-rule.ts";

/** Where a measure is in the message and in the document. */
const PATHS: Readonly<Record<CalculationType, readonly [group: string, field: string]>> = {
  ORDER_AMOUNT: ["order", "amount"],
  ORDER_TOTAL_AMOUNT: ["order", "total_amount"],
  ORDER_METADATA: ["order", "metadata"],
  ORDER_ITEMS_QUANTITY: ["order_items", "quantity"],
  ORDER_ITEMS_AMOUNT: ["order_items", "amount"],
  ORDER_ITEMS_SUBTOTAL_AMOUNT: ["order_items", "subtotal_amount"],
  CUSTOMER_METADATA: ["customer", "metadata"],
  CUSTOM_EVENT_METADATA: ["custom_event", "metadata"],
};

const camel = (name: string): string =>
  name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The measure of a calculation; undefined when its field is not set. */
function measureIn(loyalty: EarningCalculation, type: CalculationType): EarningMeasure | undefined {
  const [group, field] = PATHS[type];
  const measures = (
    loyalty as unknown as Record<string, Record<string, EarningMeasure> | undefined>
  )[camel(group)];
  return measures?.[camel(field)];
}

/**
 * Reads how many points an event grants; throws `invalid_payload` with the path of what is wrong. An update that sends
 * neither type keeps those of the calculation `before`.
 */
export function parseCalculation(
  loyalty: EarningCalculation,
  event: string,
  before?: Calculation,
): Calculation {
  const type = loyalty.type ?? before?.type;
  if (type === undefined) {
    throw invalidPayload("Property .loyalty should have required property 'type'");
  }
  if (type === "FIXED") {
    if (loyalty.points === undefined) {
      throw invalidPayload("Payload should have required property 'loyalty.points'");
    }
    const formula = parsedFormula(loyalty.pointsFormula, "loyalty");
    return { type: "FIXED", points: loyalty.points, formula };
  }
  const measure = measureOf(loyalty, before);
  if (measure === undefined) {
    throw invalidPayload("Payload should have required property 'loyalty.calculation_type'");
  }
  if (!measuresOf(event).includes(measure)) {
    throw invalidPayload(
      `Property .loyalty.calculation_type cannot be ${measure} for the event '${event}'`,
    );
  }
  const [group, field] = PATHS[measure];
  const found = measureIn(loyalty, measure);
  if (found === undefined) {
    throw invalidPayload(
      `Loyalty ${group.replace("_", " ")} rules must contain one of the following properties - '${field}'`,
    );
  }
  const path = `loyalty.${group}.${field}`;
  return {
    type: "PROPORTIONAL",
    measure,
    every: found.every,
    points: found.points,
    formula: parsedFormula(found.pointsFormula, path),
    property: propertyOf(measure, found, path),
    targets: targetsOf(measure, found, path),
  };
}

const measureOf = ({ calculationType }: EarningCalculation, before: Calculation | undefined) =>
  calculationType === undefined && before?.type === "PROPORTIONAL"
    ? before.measure
    : CALCULATION_TYPES.find((type) => type === calculationType);

function parsedFormula(text: string | undefined, path: string): string | null {
  if (text === undefined) return null;
  const parsed = parseFormula(text);
  if (parsed.kind === "violation") {
    throw invalidPayload(`Property .${path}.points_formula cannot be read: ${parsed.text}`);
  }
  return text;
}

function propertyOf(type: CalculationType, { property }: EarningMeasure, path: string) {
  if (!type.endsWith("_METADATA")) return null;
  if (property === undefined) {
    throw invalidPayload(`Payload should have required property '${path}.property'`);
  }
  return property;
}

function targetsOf(
  type: CalculationType,
  { object, id, applicableTo }: EarningMeasure,
  path: string,
): readonly ItemTarget[] {
  if (!type.startsWith("ORDER_ITEMS_")) return [];
  const targets =
    applicableTo.length > 0
      ? applicableTo.map((target) => ({ object: target.object, id: target.id }))
      : object !== undefined && id !== undefined
        ? [{ object, id }]
        : [];
  if (targets.length === 0) {
    throw invalidPayload(`Payload should have required property '${path}.applicable_to'`);
  }
  return targets.map((target) => {
    if (!isTarget(target)) throw new Error(`the contract has no object ${target.object}`);
    return target;
  });
}

const isTarget = (target: { readonly object: string; readonly id: string }): target is ItemTarget =>
  ["product", "sku", "products_collection"].includes(target.object);

export function calculationToProto(calculation: Calculation): EarningCalculation {
  const { points, formula } = calculation;
  const pointsFormula = formula === null ? {} : { pointsFormula: formula };
  if (calculation.type === "FIXED") {
    return create(EarningCalculationSchema, { type: "FIXED", points, ...pointsFormula });
  }
  const { measure, every, property, targets } = calculation;
  const [group, field] = PATHS[measure];
  const [first] = targets;
  const value = {
    every,
    points,
    ...pointsFormula,
    ...(property !== null && { property }),
    ...(first !== undefined && { object: first.object, id: first.id }),
    applicableTo: targets.map((target) => ({ ...target })),
  };
  return create(EarningCalculationSchema, {
    type: "PROPORTIONAL",
    calculationType: measure,
    [camel(group)]: { [camel(field)]: value },
  });
}
