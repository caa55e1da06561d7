import { createLane, LIGHT_WORK } from "@scrip/rpc";
import { LRUCache } from "lru-cache";

/**
 * Admits requests for lists by the size that their objects had in earlier responses: the limit of a list says little of
 * its work, since an object with metadata of 200 KB takes as long as sixty plain ones.
 */
export type ListAdmission = {
  /**
   * Waits for the turn of a request. Few light requests for the same list run concurrently, so that the response of one
   * shows before the others start if they are heavy. `admit` takes a place for the work.
   */
  readonly start: (
    list: string,
    workOf: (objectBytes: number) => number,
    admit: (work: number) => Promise<void> | undefined,
  ) => Promise<StartedList>;
};

export type StartedList = {
  readonly work: number;
  /** Reports the response. */
  readonly measured: (response: { readonly objects: number; readonly bytes: number }) => void;
  /** Ends the request; repeatable. */
  readonly end: () => void;
};

/** Lists of projects whose sizes are known. */
const MAX_LISTS = 20_000;
/** A page with large objects affects the estimate for about twenty pages without. */
const DECAY = 0.9;

/** Light requests for one list of one project. More of them would not end sooner. */
const LIGHT_LISTS = {
  running: Number.MAX_SAFE_INTEGER,
  runningPerProject: 4,
  waiting: 4_000,
  waitingPerProject: 2_000,
  maxWaitMs: 5_000,
};

export function createListAdmission(): ListAdmission {
  const sizes = new LRUCache<string, number>({ max: MAX_LISTS });
  // Its projects are lists.
  const light = createLane(LIGHT_LISTS, () => {});

  return {
    async start(list, workOf, admit) {
      let work = workOf(sizes.get(list) ?? 0);
      let end = nothing;
      try {
        if (work <= LIGHT_WORK) {
          const place = light.enter(list, 1);
          end = place.leave;
          const turn = place.start(1);
          if (turn !== undefined) {
            await turn;
            work = workOf(sizes.get(list) ?? 0);
            // The lane of heavy requests bounds it.
            if (work > LIGHT_WORK) end();
          }
        }
        const admitted = admit(work);
        if (admitted !== undefined) await admitted;
      } catch (error) {
        end();
        throw error;
      }
      return {
        work,
        end,
        measured({ objects, bytes }) {
          const size = bytes / Math.max(objects, 1);
          sizes.set(list, Math.max(size, DECAY * (sizes.get(list) ?? 0)));
        },
      };
    },
  };
}

const nothing = (): void => {};
