/** Which regions of which pages are generated, and from what. */

import type { Command } from '../../src/cli/command.ts'
import { bodies, bodyTable } from './bodies.ts'
import { codeTable } from './codes.ts'
import { commandSections } from './commands.ts'
import { ownMetrics, processMetrics } from './metrics.ts'
import { replaceRegion } from './regions.ts'
import { gatewaySettings, routeSettings } from './settings.ts'

/** @param exposition what `/metrics` of a gateway shows */
export function generatedRegions(
  exposition: string,
  commands: readonly Command[],
): Record<string, Record<string, string>> {
  return {
    'cli.md': { commands: commandSections(commands) },
    'configuration.md': { gateway: gatewaySettings(), routes: routeSettings() },
    'errors.md': { codes: codeTable() },
    'metrics.md': { gateway: ownMetrics(exposition), process: processMetrics(exposition) },
    'seats-api.md': Object.fromEntries(Object.keys(bodies).map((each) => [each, bodyTable(each)])),
  }
}

/** The page with all of its regions as they should be. */
export function withRegions(page: string, regions: Readonly<Record<string, string>>): string {
  return Object.entries(regions).reduce((text, [name, content]) => replaceRegion(text, name, content), page)
}
