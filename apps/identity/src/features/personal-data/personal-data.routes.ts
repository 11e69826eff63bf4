import { type RouteTable, streamed } from '@tessera/http-kit';
import { personOf } from '../../access/access.ts';
import { route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import { FILE_NAME, PersonalData } from './personal-data.schema.ts';
import type { PersonalDataService } from './personal-data.service.ts';

async function* inEnvelope(parts: AsyncIterable<string>): AsyncGenerator<string> {
  let before = '{"success":true,"data":';
  for await (const part of parts) {
    yield before + part;
    before = '';
  }
  yield '}';
}

export const personalDataRoutes = (personalData: PersonalDataService): RouteTable => ({
  exportPersonalData: route({
    method: 'post',
    path: '/api/me/data/export',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'Export all data stored about you',
    description:
      'Streams one JSON document with the version of its schema. It contains no secrets, no hashes and no personal data of others. The export is recorded in the activity log, and the user is notified by mail. Without a recent authentication: 403 `reauthentication_required`. 429 if the caller runs too many exports at once.',
    responses: { 200: streamed({ 'application/json': success(PersonalData) }) },
    responseHeaders: { 200: ['Content-Disposition'] },
    async handler({ caller, req, reply }) {
      const parts = await personalData.export(personOf(caller), originOf(req));
      return reply(
        200,
        { type: 'application/json; charset=utf-8', chunks: inEnvelope(parts) },
        { 'Content-Disposition': `attachment; filename="${FILE_NAME}"` },
      );
    },
  }),
});
