export { createExportFolder, type ExportFolder } from './export-folder.ts';
export { type CommandLine, type CommandLineOptions, createCommandLine, isJson } from './program.ts';
export { runCommand, runCommandLine } from './run.ts';
