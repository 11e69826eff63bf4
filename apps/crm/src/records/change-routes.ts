import { complete, type Field, omissible, type Shape, shape } from '@tessera/fields';
import { empty } from '@tessera/http-kit';
import { record } from '../http.ts';
import type { Kind, KindTypes } from './kind.ts';
import { withMaximum } from './maximum.ts';
import { withArticle } from './paths.ts';
import { hiddenSince, visibleReplay } from './replays.ts';
import { declare, type Frame } from './route-frame.ts';
import type { RecordRoutes } from './routes.ts';
import { changeProblems, creationHeaders } from './versions.ts';

/** The routes of a kind that change records. */
export const changeRoutes = <T extends KindTypes>(
  kind: Kind<T>,
  { answer, onAll, onOne, scoped, keyIn, accepted, changing }: Frame<T>,
): Omit<RecordRoutes<T>, 'list' | 'get' | 'export' | 'history'> => {
  const create: Shape & Field<T['create']> = kind.create;
  const update: Shape & Field<T['update']> = kind.update;
  const aRecord = withArticle(kind.name);
  const scopedOnly = kind.scope && !kind.parent && hiddenSince;
  return {
    create: ({ problems, ...text } = {}) =>
      declare({
        ...onAll('create'),
        method: 'post',
        summary: `Create ${aRecord}`,
        ...text,
        problems: { ...scopedOnly, ...withMaximum(kind, problems) },
        body: create,
        responses: { 201: record(answer) },
        responseHeaders: { 201: ['ETag', 'Location'] },
        handler: async ({ caller, params, body, req, reply }) => {
          const created = await scoped(params).create(caller, body);
          return reply(201, { data: created.answer }, creationHeaders(req, created));
        },
        authorizeReplay: visibleReplay(kind, scoped),
      }),

    update: (text = {}) =>
      changing(
        {
          ...onOne('update'),
          method: 'put',
          summary: `Update ${aRecord}`,
          description: kind.updateDescription,
          body: update,
          ...text,
        },
        (caller, params, body, versions) =>
          scoped(params).update(caller, keyIn(params), body, versions),
      ),

    delete: ({ problems, ...text } = {}) =>
      declare({
        ...onOne('delete'),
        method: 'delete',
        summary: `Delete ${aRecord}`,
        description: kind.deletion === 'soft' ? 'It can be restored.' : 'It cannot be restored.',
        ...text,
        responses: { 204: empty },
        requestHeaders: ['If-Match'],
        problems: { ...changeProblems, ...problems },
        handler: async ({ caller, params, req, reply }) => {
          await scoped(params).delete(caller, keyIn(params), accepted(req));
          return reply(204);
        },
      }),

    restore: ({ problems, ...text } = {}) =>
      changing(
        {
          ...onOne('delete', '/restore'),
          method: 'post',
          summary: `Restore ${aRecord}`,
          description: 'A record that is not deleted does not change.',
          ...(kind.restoreInput && { body: omissible(kind.restoreInput) }),
          ...text,
          problems: withMaximum(kind, problems),
        },
        (caller, params, body, versions) =>
          scoped(params).restore(caller, keyIn(params), versions, body),
      ),

    replace: (field, text = {}) => {
      const { [field]: declared } = update.fields;
      if (!declared) throw new TypeError(`An update of ${aRecord} has no field ${field}.`);
      return changing(
        {
          ...onOne('update', `/${field.replaceAll('_', '-')}`),
          method: 'put',
          summary: `Replace the ${field.replaceAll('_', ' ')} of ${aRecord}`,
          body: complete(shape({ [field]: declared })) as Shape as Shape & Field<T['update']>,
          ...text,
        },
        (caller, params, body, versions) =>
          scoped(params).update(caller, keyIn(params), body, versions),
      );
    },

    action: ({ name, nameOf, rule, permission, body, ...declared }) =>
      changing(
        {
          ...onOne('update', `/${name}`),
          ...(permission && { permission }),
          ...(body && { body: omissible(body) }),
          ...declared,
          method: 'post',
        },
        (caller, params, given, versions) =>
          scoped(params).act(
            caller,
            keyIn(params),
            { name, rule, ...(nameOf && { nameOf }) },
            given,
            versions,
          ),
      ),
  };
};
