// Places the steps of a playbook in layers. In a thread of its own: a hundred steps take half a second.
import { Graph, layout } from '@dagrejs/dagre'
import { type Placed, STEP_HEIGHT, STEP_WIDTH, type Wanted } from './placed'

self.addEventListener('message', (event: MessageEvent<Wanted>) => {
  self.postMessage(placedOf(event.data))
})

function placedOf({ steps, arcs }: Wanted): Placed {
  const graph = new Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'TB', nodesep: 28, ranksep: 34, marginx: 8, marginy: 8 })
  for (let step = 0; step < steps; step++) graph.setNode(String(step), { width: STEP_WIDTH, height: STEP_HEIGHT })
  arcs.forEach(({ from, to }, index) => {
    graph.setEdge(String(from), String(to), {}, String(index))
  })
  layout(graph)
  const { width, height } = graph.graph() as { width: number; height: number }
  return {
    width,
    height,
    steps: Array.from({ length: steps }, (_, step) => {
      const { x, y } = graph.node(String(step)) as { x: number; y: number }
      return { x: x - STEP_WIDTH / 2, y: y - STEP_HEIGHT / 2 }
    }),
    arcs: arcs.map(({ from, to }, index) => {
      const { points } = graph.edge(String(from), String(to), String(index)) as { points: { x: number; y: number }[] }
      return points
    }),
  }
}
