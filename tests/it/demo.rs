//! The demo, as it reads in a pipe.

use crate::sandbox::Sandbox;

#[test]
fn the_demo_reads_well_in_a_pipe() {
    let sandbox = Sandbox::empty();
    let told = sandbox.ok(&["demo"]);
    let place = told
        .lines()
        .find_map(|line| line.strip_prefix("The repository stays: cd "))
        .and_then(|line| line.split(" && ").next())
        .expect("it names its place")
        .to_owned();
    assert!(
        std::path::Path::new(&place)
            .join(".tract/tract.db")
            .exists()
    );
    insta::assert_snapshot!(told.replace(&place, "[DEMO]"), @"");
    std::fs::remove_dir_all(place).expect("removed");
}
