import { afterAll, beforeAll, describe } from "vitest";

import type { Broker } from "./broker.ts";
import { deliveryConformance } from "./delivery.ts";
import { effectConformance } from "./effects.ts";
import { faultConformance } from "./faults.ts";
import { groupConformance } from "./groups.ts";

/** The behaviour of each adapter of the port `EventBus`. */
export function eventBusConformance(name: string, makeBroker: () => Promise<Broker>): void {
  describe(`${name} as an event bus`, () => {
    let broker: Broker;
    beforeAll(async () => {
      broker = await makeBroker();
    });
    afterAll(() => broker[Symbol.asyncDispose]());

    deliveryConformance(() => broker);
    groupConformance(() => broker);
    faultConformance(() => broker);
    effectConformance(() => broker);
  });
}
