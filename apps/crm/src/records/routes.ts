import type { Field, Shape } from '@tessera/fields';
import type { Exports, RouteEntry } from '@tessera/http-kit';
import type { CrmPermission } from '../http.ts';
import { changeRoutes } from './change-routes.ts';
import type { Kind, KindTypes } from './kind.ts';
import { readRoutes } from './read-routes.ts';
import type { RecordAction, Records } from './records.ts';
import { createFrame } from './route-frame.ts';

/** The route of an operation such as approve or publish. `name` is also the last segment of its path. */
export interface Action<T extends KindTypes, Body> extends RecordAction<T, Body> {
  readonly summary: string;
  readonly description?: string;
  /** Default: the permission to update. */
  readonly permission?: CrmPermission;
  /** May be left out if all of its fields may be. */
  readonly body?: Shape & Field<Body>;
  /** Errors of the rule: status and reason. */
  readonly problems?: Readonly<Record<number, string>>;
}

/** The parts of a route's description that differ for this kind. */
export interface RouteText {
  readonly summary?: string;
  readonly description?: string;
  /** Errors of the kind's rules: status and reason. */
  readonly problems?: Readonly<Record<number, string>>;
}

/** The options of an export. */
export interface ExportOptions {
  /** `<resource>.export` (decision C22). */
  readonly permission: CrmPermission | readonly [CrmPermission, ...CrmPermission[]];
  /** The limits that all exports of the process share. */
  readonly exports: Exports;
}

/** Creates the routes of a kind, one per method; their keys in the route table are the operation ids. */
export interface RecordRoutes<T extends KindTypes> {
  list(text?: RouteText): RouteEntry;
  create(text?: RouteText): RouteEntry;
  get(text?: RouteText): RouteEntry;
  update(text?: RouteText): RouteEntry;
  delete(text?: RouteText): RouteEntry;
  restore(text?: RouteText): RouteEntry;
  /** `GET .../export?format=csv|json`, with the search and the filters of the list. */
  export(options: ExportOptions): RouteEntry;
  /** `PUT .../{id}/<field>`: replaces the value of one field. */
  replace(field: keyof T['create'] & string, text?: RouteText): RouteEntry;
  /** `GET .../{id}/history`: who changed which fields, and when. */
  history(text?: RouteText): RouteEntry;
  /** `POST .../{id}/<name>`. */
  action<Body>(action: Action<T, Body>): RouteEntry;
}

/** The routes of a kind. A kind without permissions is for services with a system token. */
export const recordRoutes = <T extends KindTypes>(
  kind: Kind<T>,
  records: Records<T>,
): RecordRoutes<T> => {
  const frame = createFrame(kind, records);
  const reading = readRoutes(kind, frame);
  return { ...reading, ...changeRoutes(kind, frame) };
};
