import { isDeepStrictEqual } from "node:util";

import type { Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import type { Part } from "../domain/commit.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import type { VoucherDefinition } from "../domain/voucher.ts";
import type { DefinitionCache } from "../loading/definition-cache.ts";
import type { CachedDefinition } from "../mapping/voucher.ts";
import type { Command } from "./parse-command.ts";

/** The current definitions of locked vouchers, by `rowKey` of project and voucher. */
export type CurrentDefinitions = {
  readonly definitions: Pick<DefinitionCache, "byId">;
  /** The commands, carried over to newer definitions where the change does not affect the decision. */
  readonly commands: readonly Command[];
};

/**
 * Loads, under the locks, definitions that changed since the commands were decided, and carries a command over
 * when its decision would be the same. A command whose old definition is no longer cached stays as it is and
 * becomes stale, which is always safe.
 */
export async function loadCurrentDefinitions(
  tx: Queryable,
  { definitions }: Deps,
  { commands, usages }: Batch,
): Promise<CurrentDefinitions> {
  const changed = findChanged(definitions, { commands, usages });
  if (changed.length > 0) await definitions.load(tx, changed);
  const current = new Map<string, CachedDefinition>();
  for (const [key, { projectId, voucherId, definitionVersion }] of usages) {
    const cached = definitions.byVersion(projectId, voucherId, definitionVersion);
    if (cached !== undefined) current.set(key, cached);
  }
  const byId: DefinitionCache["byId"] = (projectId, voucherId) =>
    current.get(rowKey(projectId, voucherId)) ?? definitions.byId(projectId, voucherId);
  if (changed.length === 0) return { definitions: { byId }, commands };

  const carryOver = (projectId: string, part: Part): Part => {
    if (part.voucherId === null) return part;
    const decidedOn = definitions.byVersion(projectId, part.voucherId, part.definitionVersion);
    const now = current.get(rowKey(projectId, part.voucherId));
    if (decidedOn === undefined || now === undefined) return part;
    if (!decideEqually(decidedOn.definition, now.definition)) return part;
    return { ...part, definitionVersion: now.definition.version };
  };
  return {
    definitions: { byId },
    commands: commands.map((command) => ({
      ...command,
      parts: command.parts.map((part) => carryOver(command.projectId, part)),
    })),
  };
}

type Batch = {
  readonly commands: readonly Command[];
  readonly usages: ReadonlyMap<string, VoucherUsage>;
};

function findChanged(definitions: DefinitionCache, { commands, usages }: Batch) {
  return commands.flatMap(({ projectId, parts }) =>
    parts.flatMap(({ voucherId: id, definitionVersion }) => {
      if (id === null) return [];
      const version = usages.get(rowKey(projectId, id))?.definitionVersion;
      if (version === undefined || version === definitionVersion) return [];
      if (definitions.byVersion(projectId, id, definitionVersion) === undefined) return [];
      return { projectId, id, version };
    }),
  );
}

/** Compares everything that decisions read; new properties are compared unless they are listed here. */
function decideEqually(a: VoucherDefinition, b: VoucherDefinition): boolean {
  const neutral = { additionalInfo: null, updatedAt: null, version: 0n };
  return isDeepStrictEqual({ ...a, ...neutral }, { ...b, ...neutral });
}
