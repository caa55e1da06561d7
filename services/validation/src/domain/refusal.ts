import type { Key, RefusalOptions } from "@scrip/errors";

/**
 * A refusal as a value, for decisions that go on after it. The text beside the key is the
 * catalogue's unless `message` replaces it.
 */
export type Refused = { readonly key: Key } & Readonly<Omit<RefusalOptions, "cause">>;

export const refusedForCode = (key: Key, code: string): Refused => ({ key, details: code });

export const resourceNotFound = (resourceType: string, id: string): Refused => ({
  key: "not_found",
  details: `Cannot find ${resourceType} with id ${id}`,
  resourceId: id,
  resourceType,
});
