export { createExportFolder, type ExportFolder } from './export-folder.ts';
export { addMigrateCommand, migrationLog } from './migrate-command.ts';
export {
  type CommandLine,
  type CommandLineOptions,
  createCommandLine,
  type InSession,
  isJson,
} from './program.ts';
export { runCommand, runCommandLine } from './run.ts';
