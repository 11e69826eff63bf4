import { crm } from './crm.ts';
import { eventsAndJobs } from './events-and-jobs.ts';
import { identity } from './identity.ts';
import { grafanaModel } from './panel.ts';

/** The models of the dashboards for Grafana, by the name of their files. */
export const dashboards = (): Record<string, object> => ({
  'identity.json': grafanaModel(identity),
  'crm.json': grafanaModel(crm),
  'events-and-jobs.json': grafanaModel(eventsAndJobs),
});
