import { MedusaModule } from "@medusajs/framework/modules-sdk";
import type {
  ComputeActionContext,
  CreatePromotionDTO,
  IPromotionModuleService,
} from "@medusajs/framework/types";
import {
  ContainerRegistrationKeys,
  createPgConnection,
  isSharedConnectionSymbol,
  MedusaError,
  Modules,
} from "@medusajs/framework/utils";

import {
  CODES,
  codeOf,
  DISCOUNT,
  HOT_CODE,
  MINIMUM,
  NO_LIMIT,
  PERCENT_OFF,
  QUANTITIES,
  RACE_CODE,
  RACE_LIMIT,
  randomCode,
  SUBTOTAL,
  UNIT_PRICE,
} from "./cart.ts";
import type { Action, Race } from "./contender.ts";
import { drive, LimitReached, race } from "./drive.ts";
import type { MedusaReply, MedusaRequest } from "./medusa.ts";

/** Medusa calculates with decimals of the major unit. */
const decimal = (minor: number): number => minor / 100;

const CUSTOMER = "cus_peer";

/** What Medusa's own cart passes to the module. */
const CART: ComputeActionContext = {
  currency_code: "usd",
  customer: { id: CUSTOMER },
  subtotal: decimal(SUBTOTAL),
  items: QUANTITIES.map((quantity, index) => ({
    id: `line_${index}`,
    quantity,
    subtotal: decimal(quantity * UNIT_PRICE),
    original_total: decimal(quantity * UNIT_PRICE),
    is_discountable: true,
    product: { id: `prod_${index}` },
  })),
  shipping_methods: [],
};

const promotions = await startModule(String(process.env["DATABASE_URL"]));
await promotions.createPromotions([
  ...Array.from({ length: CODES }, (_, index) => promotion(codeOf(index), NO_LIMIT)),
  promotion(RACE_CODE, RACE_LIMIT),
]);
await checkDiscount();

const OPERATIONS: Readonly<Record<Action, () => Promise<void>>> = {
  validate: async () => void (await validate(randomCode())),
  redeem: () => redeem(randomCode()),
  "redeem one code": () => redeem(HOT_CODE),
};

process.on("message", (request: MedusaRequest) => {
  void perform(request).then(
    (result) => reply({ result }),
    (error: unknown) => reply({ error: String(error) }),
  );
});
process.on("disconnect", () => process.exit());
reply({});

/** The module alone, on a connection pool like that of a Medusa application with default settings. */
async function startModule(clientUrl: string): Promise<IPromotionModuleService> {
  const resolve = "@medusajs/promotion";
  const database = { clientUrl };
  const cwd = import.meta.dirname;
  await MedusaModule.migrateUp({
    moduleKey: Modules.PROMOTION,
    modulePath: resolve,
    options: { database },
    cwd,
  });
  const modules = await MedusaModule.bootstrap<IPromotionModuleService>({
    moduleKey: Modules.PROMOTION,
    defaultPath: resolve,
    declaration: { scope: "internal", options: { database, [isSharedConnectionSymbol]: true } },
    injectedDependencies: {
      [ContainerRegistrationKeys.PG_CONNECTION]: createPgConnection({
        clientUrl,
        pool: { min: 2 },
      }),
    },
    cwd,
  });
  return modules[Modules.PROMOTION]!;
}

function promotion(code: string, limit: number): CreatePromotionDTO {
  return {
    code,
    limit,
    type: "standard",
    status: "active",
    application_method: {
      type: "percentage",
      target_type: "order",
      value: PERCENT_OFF,
      currency_code: "usd",
    },
    rules: [{ attribute: "subtotal", operator: "gte", values: [String(decimal(MINIMUM))] }],
  };
}

async function checkDiscount(): Promise<void> {
  const adjustments = await validate(HOT_CODE);
  const discount = adjustments.reduce((sum, { amount }) => sum + Number(amount), 0);
  if (adjustments.length !== QUANTITIES.length || discount !== decimal(DISCOUNT)) {
    throw new Error(`the discount differs: ${JSON.stringify(adjustments)}`);
  }
}

async function perform(request: MedusaRequest) {
  if (request.kind === "race") return raceForLimit(request.attempts);
  const { clients, seconds, action } = request;
  return drive({ clients, seconds, operation: OPERATIONS[action] });
}

async function raceForLimit(attempts: number): Promise<Race> {
  const outcomes = await race(attempts, () => redeem(RACE_CODE));
  const [stored] = await promotions.listPromotions({ code: [RACE_CODE] });
  return { ...outcomes, repeated: 0, stored: stored?.used ?? Number.NaN };
}

/** The discount of each line, as Medusa's cart stores it. */
async function validate(code: string) {
  const actions = await promotions.computeActions([code], CART);
  if (actions.some(({ action }) => action === "promotionLimitExceeded")) throw new LimitReached();
  return actions.filter((action) => action.action === "addItemAdjustment");
}

async function redeem(code: string): Promise<void> {
  const adjustments = await validate(code);
  try {
    await promotions.registerUsage(adjustments, { customer_id: CUSTOMER, customer_email: null });
  } catch (error) {
    const isLimit = MedusaError.isMedusaError(error) && error.message.includes("exceeds the limit");
    throw isLimit ? new LimitReached() : error;
  }
}

function reply(message: MedusaReply): void {
  process.send?.(message);
}
