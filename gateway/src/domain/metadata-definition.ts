import type { JsonValue } from "@bufbuild/protobuf";
import type { Definition, MetadataType } from "@scrip/metadata";
import { rankOf, typeFaultOf } from "@scrip/metadata";

const BOUNDS = ["lt", "lte", "gt", "gte"] as const;
const LENGTHS = ["minLength", "maxLength", "exactLength"] as const;

const HAS_VALUES = new Set<MetadataType>(["string", "number", "date", "datetime"]);
const HAS_BOUNDS = new Set<MetadataType>(["number", "date", "datetime"]);

/**
 * Describes what is wrong with a definition; the caller prepends the path. A constraint that does
 * not apply to the type is rejected, because it would silently never be enforced.
 */
export function definitionFault(definition: Definition): string | undefined {
  const { type, objectType } = definition;
  if (type === "nested" && objectType === undefined) {
    return " should have required property 'object_type'";
  }
  if (type !== "nested" && objectType !== undefined) {
    return `.object_type is only for type nested`;
  }
  return valuesFault(definition) ?? boundsFault(definition) ?? lengthsFault(definition);
}

function valuesFault(definition: Definition): string | undefined {
  const { type } = definition;
  for (const name of ["eq", "ne"] as const) {
    const values = definition[name] ?? [];
    if (values.length > 0 && !HAS_VALUES.has(type)) return notFor(name, type);
    for (const [index, value] of values.entries()) {
      const fault = typeFaultOf(type, value);
      if (fault !== undefined) return `.${name}[${index}] ${fault}`;
    }
  }
  return undefined;
}

function boundsFault(definition: Definition): string | undefined {
  const { type } = definition;
  for (const name of BOUNDS) {
    const bound = definition[name];
    if (bound === undefined) continue;
    if (!HAS_BOUNDS.has(type)) return notFor(name, type);
    const fault = typeFaultOf(type, bound);
    if (fault !== undefined) return `.${name} ${fault}`;
  }
  return isEmptyRange(definition) ? " has bounds that no value meets" : undefined;
}

function isEmptyRange({ type, lt, lte, gt, gte }: Definition): boolean {
  const rank = (bound: JsonValue | undefined, otherwise: number): number =>
    bound === undefined ? otherwise : rankOf(type, bound);
  const [below, atMost] = [rank(lt, Infinity), rank(lte, Infinity)];
  const [above, atLeast] = [rank(gt, -Infinity), rank(gte, -Infinity)];
  return atLeast > atMost || above >= below || above >= atMost || atLeast >= below;
}

function lengthsFault(definition: Definition): string | undefined {
  const { type, minLength = 0, maxLength = Infinity, exactLength } = definition;
  for (const name of LENGTHS) {
    if (definition[name] !== undefined && type !== "string") return notFor(snake[name], type);
  }
  const isOutside =
    exactLength !== undefined && (exactLength < minLength || exactLength > maxLength);
  return minLength > maxLength || isOutside ? " has lengths that no value meets" : undefined;
}

const snake = {
  minLength: "min_length",
  maxLength: "max_length",
  exactLength: "exact_length",
} as const;

const notFor = (name: string, type: MetadataType): string => `.${name} is not for type ${type}`;
