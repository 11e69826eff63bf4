import { nullable, shape, uuid } from '@tessera/fields';
import { empty, type RouteTable } from '@tessera/http-kit';
import { record, route } from '../../http.ts';
import { recordRoutes } from '../../records/routes.ts';
import { kbArticle } from '../kb-articles/kb-articles.kind.ts';
import { feedback } from './feedback.kind.ts';
import { Feedback, FeedbackInput } from './feedback.schema.ts';
import type { FeedbackService } from './feedback.service.ts';

const ofArticle = {
  path: '/kb-articles/{id}/feedback',
  permission: 'kb_articles.view',
  resource: kbArticle.name,
  params: shape({ id: uuid() }),
} as const;

export const feedbackRoutes = (service: FeedbackService): RouteTable => ({
  listKbArticleFeedback: recordRoutes(feedback, service.votes).list({
    summary: 'List the votes on an article and their texts',
  }),

  getOwnKbArticleFeedback: route({
    ...ofArticle,
    path: '/kb-articles/{id}/feedback/own',
    method: 'get',
    summary: "Show the caller's vote on an article",
    description: '`data` is null if the caller has not voted.',
    responses: { 200: record(nullable(Feedback)) },
    handler: async ({ caller, params, reply }) =>
      reply(200, { data: await service.own(caller, params.id) }),
  }),

  updateKbArticleFeedback: route({
    ...ofArticle,
    method: 'put',
    summary: 'Say whether an article helped',
    description:
      'Everybody who may see the article has one vote on it, and can change and remove it. A text that is left out does not change; null clears it.',
    body: FeedbackInput,
    responses: { 200: record(Feedback) },
    handler: async ({ caller, params, body, reply }) =>
      reply(200, { data: await service.vote(caller, params.id, body) }),
  }),

  deleteKbArticleFeedback: route({
    ...ofArticle,
    method: 'delete',
    summary: "Remove the caller's vote on an article",
    description: 'Without a vote, nothing changes.',
    responses: { 204: empty },
    handler: async ({ caller, params, reply }) => {
      await service.withdraw(caller, params.id);
      return reply(204);
    },
  }),
});
