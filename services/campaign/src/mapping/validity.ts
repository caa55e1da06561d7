import { invalidPayload } from "@scrip/errors";
import { mergeValidityUpdate, validityFromProto } from "@scrip/mapping";
import { checkValidity, type Validity } from "@scrip/rules";

import { invalidCampaignParams } from "../domain/errors.ts";

/** The time limits of a new campaign or tier; rejects limits that contradict each other. */
export const parseValidity = (request: Parameters<typeof validityFromProto>[0]): Validity =>
  checked(validityFromProto(request));

/** The time limits after an update; `sent` holds the paths of its mask. */
export const parseChangedValidity = (...change: Parameters<typeof mergeValidityUpdate>): Validity =>
  checked(mergeValidityUpdate(...change));

function checked(validity: Validity): Validity {
  const violation = checkValidity(validity);
  if (violation === null) return validity;
  // Dates are parameters of the campaign; the recurring limits are malformed by themselves.
  if (violation.includes(".expiration_date")) throw invalidCampaignParams(violation);
  throw invalidPayload(violation);
}
