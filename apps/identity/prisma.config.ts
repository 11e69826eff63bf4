import { defineConfig } from 'prisma/config';

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  // Not env(): that throws where no database is needed, as in `generate`.
  datasource: { url: process.env.DATABASE_URL ?? '' },
});
