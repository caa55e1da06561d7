import type { Definition, Definitions } from "@scrip/metadata";

import { definitionFault } from "./metadata-definition.ts";

/** Includes deleted definitions, because they can be restored. */
const MAX_DEFINITIONS = 100;
const MAX_KEY_LENGTH = 100;

/**
 * Replaces the definitions that were sent, each as a whole, or describes what is wrong with them.
 */
export function mergeDefinitions(
  stored: Definitions,
  sent: Definitions,
): { readonly merged: Definitions } | { readonly fault: string } {
  for (const [key, definition] of Object.entries(sent)) {
    const fault =
      keyFault(key) ?? typeFault(stored, key, definition) ?? definitionFault(definition);
    if (fault !== undefined) return { fault: `Property .properties.${key}${fault}` };
  }
  const merged = { ...stored, ...sent };
  return Object.keys(merged).length > MAX_DEFINITIONS
    ? { fault: `Property .properties must NOT have more than ${MAX_DEFINITIONS} items` }
    : { merged };
}

const keyFault = (key: string): string | undefined =>
  key === "" || key.length > MAX_KEY_LENGTH
    ? ` must have a name of 1 to ${MAX_KEY_LENGTH} characters`
    : undefined;

function typeFault(stored: Definitions, key: string, { type }: Definition): string | undefined {
  const before = Object.hasOwn(stored, key) ? stored[key] : undefined;
  return before === undefined || before.type === type
    ? undefined
    : `.type must stay ${before.type}: the type of a definition never changes`;
}

/** Names of the schemas that nested values refer to. */
export const objectTypesOf = (properties: Definitions): readonly string[] => [
  ...new Set(Object.values(properties).flatMap(({ objectType }) => objectType ?? [])),
];
