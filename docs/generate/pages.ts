/** Which regions of which pages are generated, and from what. */

import type { Command } from '../../src/cli/command.ts'
import { codeTable } from './codes.ts'
import { reasonTable } from './reasons.ts'
import { commandSections } from './commands.ts'
import { endpointRegions } from './endpoints.ts'
import { ownMetrics, processMetrics } from './metrics.ts'
import { replaceRegion } from './regions.ts'
import { gatewaySettings, routeSettings } from './settings.ts'
import { withdrawnTable } from './withdrawn.ts'

/** @param exposition what `/metrics` of a gateway shows */
export function generatedRegions(
  exposition: string,
  commands: readonly Command[],
): Record<string, Record<string, string>> {
  return {
    'access.md': { reasons: reasonTable() },
    'cli.md': { commands: commandSections(commands) },
    'configuration.md': { gateway: gatewaySettings(), routes: routeSettings() },
    'errors.md': { codes: codeTable() },
    'metrics.md': { gateway: ownMetrics(exposition), process: processMetrics(exposition) },
    'seats-api.md': endpointRegions(),
    'versions.md': { withdrawn: withdrawnTable() },
  }
}

/** The page with all of its regions as they should be. */
export function withRegions(page: string, regions: Readonly<Record<string, string>>): string {
  return Object.entries(regions).reduce((text, [name, content]) => replaceRegion(text, name, content), page)
}
