//! Numbers one after the other as a line of blocks, the highest for the most.

/// The blocks, the lowest first.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// `values` in so many columns or fewer, each the largest of those that it stands for; `most` is the highest block,
/// and nothing is a space.
pub fn plot(values: &[u64], most: u64, width_cols: usize) -> String {
    let width = width_cols.min(values.len());
    let edge = |col: usize| col * values.len() / width;
    let largest = |col: usize| values[edge(col)..edge(col + 1)].iter().copied().max();
    let block = |value: u64| {
        let level = u128::from(value) * BLOCKS.len() as u128 / u128::from(most.max(1));
        let level = usize::try_from(level).unwrap_or(usize::MAX);
        BLOCKS[level.min(BLOCKS.len() - 1)]
    };
    let cols = (0..width).map(|col| match largest(col).unwrap_or(0) {
        0 => ' ',
        value => block(value),
    });
    cols.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_as_high_as_the_largest_in_it() {
        assert_eq!(plot(&[0, 1, 40, 80], 80, 10), " ▁▅█");
        assert_eq!(plot(&[0, 1, 40, 80, 0, 0], 80, 3), "▁█ ");
        assert_eq!(plot(&[u64::MAX, 5], u64::MAX, 80), "█▁");
        assert_eq!(plot(&[5], 0, 1), "█");
        assert_eq!(plot(&[], 0, 5), "");
    }
}
