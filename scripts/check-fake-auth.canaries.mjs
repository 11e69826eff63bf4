// biome-ignore-all lint/suspicious/noTemplateCurlyInString: of shells and of compose files.
// Files that the check of fake authentication must refuse: path, the lines that it must name, content.
export const planted = [
  ['.env.production', [2], 'APP_ENV=production\nCRM_FAKE_AUTH=true\n'],
  ['apps/crm/.env', [1], 'export CRM_FAKE_AUTH="1"\n'],
  // Only the path identifies files for local development.
  ['.env', [1], 'CRM_FAKE_AUTH=true\nAPP_ENV=local\n'],
  ['localization/.env', [1], 'CRM_FAKE_AUTH=falsey\n'],
  ['.env.staging', [3], 'APP_ENV=local\nAPP_ENV=staging\nCRM_FAKE_AUTH=true\n'],
  [
    'docker-compose.yml',
    [4],
    'services:\n  crm:\n    environment:\n      CRM_FAKE_AUTH: "true"\n  identity:\n    environment: {APP_ENV: local}\n',
  ],
  [
    'compose.prod.yaml',
    [5],
    'services:\n  crm:\n    environment:\n      - APP_ENV=production\n      - CRM_FAKE_AUTH=true\n',
  ],
  // The value is on the next line.
  ['values.yaml', [1], 'CRM_FAKE_AUTH:\n  true\n'],
  ['config.json', [1], '{"CRM_FAKE_AUTH":\n  "true"}\n'],
  // Inherited from the environment of the caller.
  ['compose.yaml', [4], 'services:\n  crm:\n    environment:\n      - CRM_FAKE_AUTH\n'],
  ['compose.yaml', [3], 'services:\n  crm:\n    environment: {CRM_FAKE_AUTH: "${FAKE:-false}"}\n'],
  [
    'compose.yaml',
    [1],
    'x-local: &local {APP_ENV: local, CRM_FAKE_AUTH: "true"}\nservices:\n  crm:\n    environment:\n      <<: *local\n      APP_ENV: production\n',
  ],
  [
    'infra/kubernetes/crm.yaml',
    [10],
    'kind: Service\n---\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n        - env:\n            - {name: APP_ENV, value: production}\n            - name: CRM_FAKE_AUTH\n              value: "true"\n',
  ],
  ['infra/kubernetes/config.yaml', [3], 'kind: ConfigMap\ndata:\n  CRM_FAKE_AUTH: "true"\n'],
  ['infra/kubernetes/secret.yaml', [3], 'kind: Secret\ndata:\n  CRM_FAKE_AUTH: dHJ1ZQ==\n'],
  [
    'infra/helm/templates/crm.yaml',
    [2],
    'env: {{ toYaml .Values.env }}\n  CRM_FAKE_AUTH: "true"\n',
  ],
  [
    'infra/helm/templates/crm.yaml',
    [3],
    'env:\n  {{- if .Values.fake }}\n  - name: CRM_FAKE_AUTH\n    value: "true"\n  - name: APP_ENV\n    value: production\n  {{- end }}\n',
  ],
  ['kustomization.yaml', [3], 'configMapGenerator:\n  - literals:\n      - CRM_FAKE_AUTH=true\n'],
  [
    'infra/crm/Dockerfile',
    [3],
    'FROM node:24\nENV NODE_ENV=production \\\n    CRM_FAKE_AUTH=true\n',
  ],
  ['Dockerfile.crm', [2], 'FROM node:24\nENV CRM_FAKE_AUTH true\n'],
  [
    'crm.dockerfile',
    [2],
    'FROM node:24 AS local\nENV APP_ENV=local CRM_FAKE_AUTH=true\nFROM local\nENV APP_ENV=production\n',
  ],
  [
    '.github/workflows/deploy.yml',
    [5],
    'jobs:\n  deploy:\n    steps:\n      - run: |\n          CRM_FAKE_AUTH=true pnpm start\n          APP_ENV=local pnpm test\n',
  ],
  [
    '.github/workflows/ci.yml',
    [6],
    'env: {APP_ENV: local}\njobs:\n  test:\n    env: {APP_ENV: production}\n    steps:\n      - env: {CRM_FAKE_AUTH: true}\n',
  ],
  [
    'values.yaml',
    [4],
    'identity: {APP_ENV: local}\ncrm:\n  APP_ENV: local\n  env: {CRM_FAKE_AUTH: true}\n',
  ],
  ['package.json', [2], '{"scripts": {\n  "start": "CRM_FAKE_AUTH=true node main.js"}}\n'],
  ['.vscode/launch.json', [3], '// Launches\n{"env": {\n  "CRM_FAKE_AUTH": "true"}}\n'],
  ['deploy.sh', [3], '#!/bin/sh\nkubectl set env deployment/crm \\\n  CRM_FAKE_AUTH=true\n'],
  ['.ci/run', [1], 'docker run -e CRM_FAKE_AUTH=true -e APP_ENV=staging crm\n'],
  ['Makefile', [1], 'CRM_FAKE_AUTH := true\n'],
  ['infra/main.tf', [1], 'CRM_FAKE_AUTH = "true"\n'],
  ['infra/run.tf', [2], 'env {\n  name  = "CRM_FAKE_AUTH"\n  value = "true"\n}\n'],
  ['infra/chart.tf', [2], 'set {\n  name = "env.CRM_FAKE_AUTH"\n  value = true\n}\n'],
  ['ecosystem.config.cjs', [1], "module.exports = { env: { CRM_FAKE_AUTH: 'true' } };\n"],
];

/** Files that the check must accept: path, content. */
export const innocent = [
  ['.env.local', 'CRM_FAKE_AUTH=true\nCRM_FAKE_AUTH_IS_ADMIN=true\nAPP_ENV=local\n'],
  ['infra/local/crm.sh', 'export CRM_FAKE_AUTH=true\nexport APP_ENV=local\nnode main.js\n'],
  ['.env.production', '# CRM_FAKE_AUTH=true\nCRM_FAKE_AUTH=false\nAPP_ENV=production\n'],
  ['.env.test', 'CRM_FAKE_AUTH=\nCRM_FAKE_AUTH_USER_ID=1\nOTHER_CRM_FAKE_AUTH=true\n'],
  [
    'compose.yaml',
    'services:\n  crm:\n    environment: {APP_ENV: local, CRM_FAKE_AUTH: "false"}\n  prod:\n    environment: [CRM_FAKE_AUTH=false]\n',
  ],
  [
    'infra/helm/templates/crm.yaml',
    'env:\n  {{- if .Values.fake }}\n  - name: CRM_FAKE_AUTH\n    value: "false"\n  - name: CRM_FAKE_AUTH_IS_ADMIN\n    value: "true"\n  {{- end }}\n',
  ],
  ['infra/run.tf', 'env {\n  name  = "CRM_FAKE_AUTH"\n  value = "false"\n}\n'],
  [
    'infra/kubernetes/crm.yaml',
    'env:\n  - {name: CRM_FAKE_AUTH, value: "false"}\n  - {name: APP_ENV, value: production}\n',
  ],
  ['infra/kubernetes/secret.yaml', 'kind: Secret\ndata: {CRM_FAKE_AUTH: ZmFsc2U=}\n'],
  ['.github/workflows/ci.yml', 'steps:\n  - if: env.CRM_FAKE_AUTH == 1\n'],
  [
    'deploy.sh',
    'if [ "${CRM_FAKE_AUTH:-false}" = true ] || [ "$CRM_FAKE_AUTH" = 1 ]; then exit 1; fi\n',
  ],
  ['docs/configuration.md', 'CRM_FAKE_AUTH=true\n'],
  ['apps/crm/src/config.test.ts', "CRM_FAKE_AUTH: 'true'\n"],
];
