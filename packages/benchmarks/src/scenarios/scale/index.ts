import type { ScaleScenario } from '../../scale/bench.ts';
import { companyLists, contactLists } from './lists.ts';
import { searchScenario } from './search.ts';

/** What `--scale` measures, in this order; scenarios that change much data come last. */
export const scaleScenarios: readonly ScaleScenario[] = [
  contactLists,
  companyLists,
  searchScenario,
];
