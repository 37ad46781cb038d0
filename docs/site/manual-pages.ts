/** The pages of the manual. */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The texts of the pages at the top and in `docs/`, by their paths. @param root the folder of the repository */
export function manualPages(root: string): Record<string, string> {
  const paths = globSync(['*.md', 'docs/*.md'], { cwd: root }).sort()
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}
