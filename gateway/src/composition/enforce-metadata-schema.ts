import type { JsonObject, Message } from "@bufbuild/protobuf";
import { ApiError } from "@scrip/errors";
import { metadataFaults, type Schemas } from "@scrip/metadata";

import { type MetadataPlan, type OwnMetadata, planMetadata } from "./metadata-plan.ts";
import type { CompileStep, Fields, MessageFields } from "./step.ts";

/** Faults listed in `details`; a longer list would not be read. */
const MAX_FAULTS = 20;

export const enforceMetadataSchemaStep: CompileStep = ({ rpc }, { findSchemas, campaigns }) => {
  const plan = planMetadata(rpc.input);
  if (plan === undefined) return undefined;
  const { instead, field } = plan.own ?? {};
  const storesChoice = instead !== undefined && instead.field === undefined;
  return (next) => async (message, call) => {
    const schemas = await findSchemas(call.project.id);
    if (schemas !== undefined) {
      const sent = message as MessageFields;
      const campaignId = storesChoice && sent[field ?? ""] !== undefined && sent["campaignId"];
      const usesInstead =
        typeof campaignId === "string"
          ? await campaigns?.usesVoucherSchema(campaignId, call)
          : undefined;
      enforceMetadataSchemas(plan, message, schemas, usesInstead);
    }
    return next(message, call);
  };
};

/** `usesInstead`: what the stored resource says, where the request does not say which schema applies. */
export function enforceMetadataSchemas(
  plan: MetadataPlan,
  message: Message,
  schemas: Schemas,
  usesInstead?: boolean,
): void {
  const faults = faultsIn(plan, message, { schemas, usesInstead });
  if (faults.length === 0) return;
  const rest = faults.length - MAX_FAULTS;
  const details = faults.slice(0, MAX_FAULTS).join(", ");
  throw new ApiError("metadata_validation_failed", {
    details: rest > 0 ? `${details}, and ${rest} more` : details,
  });
}

type Enforced = { readonly schemas: Schemas; readonly usesInstead?: boolean | undefined };

function faultsIn(plan: MetadataPlan, fields: Fields, enforced: Enforced): readonly string[] {
  const { own, children } = plan;
  const inside = children.flatMap(({ field, many, plan: child }) => {
    const value = fields[field];
    if (value === undefined) return [];
    return many
      ? (value as readonly Fields[]).flatMap((item) => faultsIn(child, item, enforced))
      : faultsIn(child, value as Fields, enforced);
  });
  return own === undefined ? inside : [...ownFaults(own, fields, enforced), ...inside];
}

function ownFaults(
  own: OwnMetadata,
  fields: Fields,
  { schemas, usesInstead }: Enforced,
): readonly string[] {
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
  return faultsAs(usesInstead === true && instead !== undefined ? instead.resource : resource);
}

const isAbsent = (value: unknown): boolean => value === undefined || value === "";
