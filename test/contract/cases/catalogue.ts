import type { VectorCatalogue } from "../vector.ts";

/** The products, SKUs and collections of the cases. */
export const catalogue: VectorCatalogue = {
  products: {
    mug: { price: 1000 },
    poster: { price: 1500 },
    tshirt: { price: 2000 },
    bottle: { price: 2500 },
    socks: { price: 500 },
    laptop: { price: 100_000 },
    bag: { price: 5000 },
    mouse: { price: 4000 },
    beans: { price: 3000 },
    filters: { price: 2000 },
    vase: { price: 1500 },
    sofa: { price: 70_600 },
    cable: { price: 999 },
    shipping: { price: 1500 },
    sticker: {},
  },
  skus: {
    tshirt_s: { product: "$tshirt", price: 1900 },
    tshirt_l: { product: "$tshirt", price: 2400 },
    mug_red: { product: "$mug" },
  },
  collections: {
    adventure: ["$mug", "$poster", "$tshirt"],
    groceries: ["$beans", "$filters"],
    gadgets: ["$laptop", "$bag", "$mouse"],
    large: ["$tshirt_l"],
    clothes_and_more: ["$mug", "$poster", "$tshirt", "$socks"],
    at_1500: ["$vase", "$poster", "$shipping"],
  },
};
