import type { ScaleScenario } from '../../scale/bench.ts';
import { board } from './board.ts';
import { chat } from './chat.ts';
import { firstPagesScenario } from './first-pages.ts';
import { historyOfUpdates } from './history.ts';
import { contactImport } from './import.ts';
import { companyLists, contactLists } from './lists.ts';
import { reorders } from './reorders.ts';
import { searchScenario } from './search.ts';
import { timeEntryExport, timeEntrySummary } from './time-entries.ts';
import { timelines } from './timelines.ts';

/** What `--scale` measures, in this order; scenarios that change much data come last. */
export const scaleScenarios: readonly ScaleScenario[] = [
  contactLists,
  companyLists,
  firstPagesScenario,
  searchScenario,
  timelines,
  board,
  chat,
  timeEntrySummary,
  timeEntryExport,
  historyOfUpdates,
  reorders,
  contactImport,
];

/** The lists of CRM, as paths below `/api/crm`, of which a scenario measures a page. */
export const measuredLists: readonly string[] = scaleScenarios.flatMap(({ lists = [] }) => lists);
