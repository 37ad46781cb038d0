/** The history of a Seat or an API key: its entries in the audit. */

import { Entry } from './differences.js'
import { useList } from './loading.js'
import { html } from './markup.js'
import { Empty, ListEnd } from './states.js'

/** @param {{ id: string, version: string | number }} props version: of the Seat or API key, to read it again */
export function History({ id, version }) {
  const entries = useList('/v1/audit', { query: { target: id }, deps: [version] })
  return html`<section>
    <h2>History</h2>
    ${entries.items.map((entry) => html`<${Entry} key=${entry.id} entry=${entry} withTarget=${false} />`)}
    <${ListEnd}
      of=${entries}
      what="History"
      none=${html`<${Empty}>The audit has no change of it any more.<//>`}
    />
  </section>`
}
