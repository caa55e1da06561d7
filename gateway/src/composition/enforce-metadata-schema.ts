import type { JsonObject, Message } from "@bufbuild/protobuf";
import { ApiError } from "@scrip/errors";
import { metadataFaults, type Schemas } from "@scrip/metadata";

import { type MetadataPlan, type OwnMetadata, planMetadata } from "./metadata-plan.ts";
import type { CompileStep, Fields } from "./step.ts";

/** Faults listed in `details`; a longer list would not be read. */
const MAX_FAULTS = 20;

export const enforceMetadataSchemaStep: CompileStep = ({ rpc }, { findSchemas }) => {
  const plan = planMetadata(rpc.input);
  if (plan === undefined) return undefined;
  return (next) => async (message, call) => {
    const schemas = await findSchemas(call.project.id);
    if (schemas !== undefined) enforceMetadataSchemas(plan, message, schemas);
    return next(message, call);
  };
};

export function enforceMetadataSchemas(
  plan: MetadataPlan,
  message: Message,
  schemas: Schemas,
): void {
  const faults = faultsIn(plan, message, schemas);
  if (faults.length === 0) return;
  const rest = faults.length - MAX_FAULTS;
  const details = faults.slice(0, MAX_FAULTS).join(", ");
  throw new ApiError("metadata_validation_failed", {
    details: rest > 0 ? `${details}, and ${rest} more` : details,
  });
}

function faultsIn(plan: MetadataPlan, fields: Fields, schemas: Schemas): readonly string[] {
  const { own, children } = plan;
  const inside = children.flatMap(({ field, many, plan: child }) => {
    const value = fields[field];
    if (value === undefined) return [];
    return many
      ? (value as readonly Fields[]).flatMap((item) => faultsIn(child, item, schemas))
      : faultsIn(child, value as Fields, schemas);
  });
  return own === undefined ? inside : [...ownFaults(own, fields, schemas), ...inside];
}

function ownFaults(own: OwnMetadata, fields: Fields, schemas: Schemas): readonly string[] {
  const { resource, instead } = own;
  const submission = {
    metadata: fields[own.field] as JsonObject | undefined,
    isComplete: own.isComplete && own.unless.every((name) => isAbsent(fields[name])),
  };
  if (submission.metadata === undefined && !submission.isComplete) return [];
  const faultsAs = (name: string): readonly string[] => metadataFaults(schemas, name, submission);
  if (instead?.field !== undefined) {
    return faultsAs(fields[instead.field] === true ? instead.resource : resource);
  }
  const faults = faultsAs(resource);
  if (faults.length === 0 || instead === undefined) return faults;
  return faultsAs(instead.resource).length === 0 ? [] : faults;
}

const isAbsent = (value: unknown): boolean => value === undefined || value === "";
