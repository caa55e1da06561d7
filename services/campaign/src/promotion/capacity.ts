import { invalidCampaignParams } from "../domain/errors.ts";
import { MAX_TIERS_OF_CAMPAIGN } from "../store/promotion-tiers.ts";

// Qualifications read all tiers and stacks of a project, which limits their number.
const MAX_TIERS_OF_PROJECT = 5_000;
const MAX_STACKS_OF_PROJECT = 1_000;

export function requireTierCapacity(count: {
  readonly ofCampaign: number;
  readonly ofProject: number;
}): void {
  if (count.ofCampaign >= MAX_TIERS_OF_CAMPAIGN) {
    throw invalidCampaignParams(
      `A campaign cannot have more than ${MAX_TIERS_OF_CAMPAIGN} promotion tiers`,
    );
  }
  if (count.ofProject >= MAX_TIERS_OF_PROJECT) {
    throw invalidCampaignParams(
      `A project cannot have more than ${MAX_TIERS_OF_PROJECT} promotion tiers`,
    );
  }
}

export function requireStackCapacity(stacksOfProject: number): void {
  if (stacksOfProject >= MAX_STACKS_OF_PROJECT) {
    throw invalidCampaignParams(
      `A project cannot have more than ${MAX_STACKS_OF_PROJECT} promotion stacks`,
    );
  }
}
