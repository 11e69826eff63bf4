import { type RouteTable, rootRoute, ServiceInformation } from '@tessera/http-kit';
import { html } from '../http/html.ts';
import { success } from '../http/route.ts';
import { version } from '../http/version.ts';
import { type Brand, sendPage } from './layout.ts';
import { readerOf } from './visit.ts';

const health = '/api/health';

/** The root page: what identity is, with links for users and developers. */
export const rootRoutes = (brand: Brand): RouteTable => ({
  getService: rootRoute({
    service: 'identity',
    version,
    health,
    envelope: success(ServiceInformation),
    wrap: (data) => ({ success: true, data }),
    sendPage(req, res) {
      const reader = readerOf(req);
      const { root, signIn } = reader.texts;
      const body = html`<p><a class="button" href="/sign-in">${signIn.title}</a></p>
<p class="below"><a href="/docs">${root.reference}</a></p>
<p class="below"><a href="${health}">${root.health}</a></p>`;
      sendPage(res, reader, { title: root.title, lead: root.lead, body }, brand);
    },
  }),
});
