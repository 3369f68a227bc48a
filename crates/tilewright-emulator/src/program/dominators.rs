//! Immediate post-dominators: where the lanes of a diverged warp meet again.

use super::blocks::Block;

/// For each block its immediate post-dominator, or `None` if that is the end of the function.
///
/// The algorithm of Cooper, Harvey and Kennedy on the reversed graph. Blocks that cannot reach an end (endless loops) are taken to have
/// an edge to it.
pub fn immediate_post_dominators(blocks: &[Block]) -> Vec<Option<u32>> {
    let end = blocks.len();
    let mut successors: Vec<Vec<usize>> = blocks
        .iter()
        .map(|block| {
            if block.successors.is_empty() {
                vec![end]
            } else {
                block.successors.iter().map(|&next| next as usize).collect()
            }
        })
        .collect();
    add_exits_to_endless_loops(&mut successors, end);
    let mut predecessors = vec![Vec::new(); end + 1];
    for (block, next) in successors.iter().enumerate() {
        next.iter().for_each(|&next| predecessors[next].push(block));
    }
    let order = postorder(&predecessors, end);
    let mut rank = vec![usize::MAX; end + 1];
    for (number, &block) in order.iter().enumerate() {
        rank[block] = number;
    }
    let mut dominator = vec![usize::MAX; end + 1];
    dominator[end] = end;
    let mut changed = true;
    while changed {
        changed = false;
        for &block in order.iter().rev().filter(|&&block| block != end) {
            let mut meet = usize::MAX;
            for &next in successors[block].iter().filter(|&&next| dominator[next] != usize::MAX) {
                meet = if meet == usize::MAX { next } else { intersect(meet, next, &dominator, &rank) };
            }
            if meet != usize::MAX && dominator[block] != meet {
                dominator[block] = meet;
                changed = true;
            }
        }
    }
    (0..end).map(|block| Some(dominator[block]).filter(|&d| d < end).map(|d| d as u32)).collect()
}

fn intersect(mut a: usize, mut b: usize, dominator: &[usize], rank: &[usize]) -> usize {
    while a != b {
        while rank[a] < rank[b] {
            a = dominator[a];
        }
        while rank[b] < rank[a] {
            b = dominator[b];
        }
    }
    a
}

/// Gives one block of every part of the graph that cannot reach the end an edge to it.
fn add_exits_to_endless_loops(successors: &mut [Vec<usize>], end: usize) {
    let mut reaches = vec![false; end + 1];
    let mut predecessors = vec![Vec::new(); end + 1];
    for (block, next) in successors.iter().enumerate() {
        next.iter().for_each(|&next| predecessors[next].push(block));
    }
    let mut work = vec![end];
    let mut last = end;
    loop {
        while let Some(block) = work.pop() {
            if !std::mem::replace(&mut reaches[block], true) {
                work.extend(&predecessors[block]);
            }
        }
        // The last block of such a part is usually its backward jump.
        while last > 0 && reaches[last - 1] {
            last -= 1;
        }
        if last == 0 {
            return;
        }
        successors[last - 1].push(end);
        work.push(last - 1);
    }
}

/// Post-order of a depth-first search from `root`, without recursion.
fn postorder(edges: &[Vec<usize>], root: usize) -> Vec<usize> {
    let mut order = Vec::with_capacity(edges.len());
    let mut seen = vec![false; edges.len()];
    let mut stack = vec![(root, 0)];
    seen[root] = true;
    while let Some((block, next)) = stack.last_mut() {
        match edges[*block].get(*next) {
            Some(&follower) => {
                *next += 1;
                if !std::mem::replace(&mut seen[follower], true) {
                    stack.push((follower, 0));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[&[u32]]) -> Vec<Block> {
        edges.iter().map(|&next| Block { start: 0, end: 0, successors: next.to_vec() }).collect()
    }

    #[test]
    fn a_diamond_meets_at_its_foot() {
        let blocks = graph(&[&[1, 2], &[3], &[3], &[]]);
        assert_eq!(immediate_post_dominators(&blocks), [Some(3), Some(3), Some(3), None]);
    }

    #[test]
    fn a_loop_meets_behind_it() {
        let blocks = graph(&[&[1], &[1, 2], &[]]);
        assert_eq!(immediate_post_dominators(&blocks), [Some(1), Some(2), None]);
    }

    #[test]
    fn an_early_return_meets_nowhere() {
        let blocks = graph(&[&[1, 2], &[], &[3], &[]]);
        assert_eq!(immediate_post_dominators(&blocks), [None, None, Some(3), None]);
    }

    #[test]
    fn an_endless_loop_ends_the_search_all_the_same() {
        let blocks = graph(&[&[1, 2], &[1], &[]]);
        assert_eq!(immediate_post_dominators(&blocks), [None, None, None]);
    }
}
